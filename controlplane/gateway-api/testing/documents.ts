/** Short ways to write documents of Gateway API. Fields are YAML in one line. */

const GROUP = 'gateway.networking.k8s.io/v1';

export type Meta = { readonly namespace?: string; readonly created?: number };

function write(kind: string, name: string, fields: string, { namespace, created }: Meta = {}) {
  const time =
    created === undefined ? '' : `, creationTimestamp: "2026-01-01T00:00:${10 + created}Z"`;
  const home = namespace === undefined ? '' : `, namespace: ${namespace}`;
  return `apiVersion: ${GROUP}
kind: ${kind}
metadata: {name: ${name}${home}${time}, generation: 2}
spec: ${fields}
---
`;
}

export const CLASS = write(
  'GatewayClass',
  'ours',
  '{controllerName: gateway.internal/gateway-controller}',
);

/** `fields` are those beside the class. */
export function gateway(name: string, fields: string, meta: Meta = { namespace: 'infra' }): string {
  return write('Gateway', name, `{gatewayClassName: ours, ${fields}}`, meta);
}

export function object(kind: string, name: string, fields: string, meta: Meta = {}): string {
  return write(kind, name, `{${fields}}`, { namespace: 'infra', ...meta });
}

/** A Service with these ports, such as `{port: 80}`. */
export function service(name: string, ports = '{port: 80}', namespace = 'infra'): string {
  return `apiVersion: v1
kind: Service
metadata: {name: ${name}, namespace: ${namespace}}
spec: {ports: [${ports}]}
---
`;
}

export function namespace(name: string, labels: string): string {
  return `apiVersion: v1
kind: Namespace
metadata: {name: ${name}, labels: {${labels}}}
---
`;
}

export function configMap(name: string, ca: string, home = 'infra'): string {
  return `apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}, namespace: ${home}}
data: ${JSON.stringify({ 'ca.crt': ca })}
---
`;
}

export function trustBundle(name: string, trusted: string): string {
  return `apiVersion: certificates.k8s.io/v1beta1
kind: ClusterTrustBundle
metadata: {name: ${name}}
spec: ${JSON.stringify({ trustBundle: trusted })}
---
`;
}

export function tlsSecret(
  name: string,
  { certificate, key }: { readonly certificate: string; readonly key: string },
  home = 'infra',
): string {
  return `apiVersion: v1
kind: Secret
metadata: {name: ${name}, namespace: ${home}}
type: kubernetes.io/tls
stringData: ${JSON.stringify({ 'tls.crt': certificate, 'tls.key': key })}
---
`;
}
