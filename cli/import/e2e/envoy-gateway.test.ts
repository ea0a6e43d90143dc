import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCompiled } from '#controlplane/compile/e2e/compiled-envoy.ts';
import { startEchoServer } from '#controlplane/compile/e2e/echo-server.ts';
import type { Json, JsonObject } from '#protos/json.ts';
import { toYaml } from '../document.ts';
import { importObjects } from '../import-objects.ts';
import { readObjects } from '../source-object.ts';
import { check } from '../testing/golden-cases.ts';

const PORT = 8000;

const SITE = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: eg }
spec: { controllerName: gateway.envoyproxy.io/gatewayclass-controller }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: web }
spec:
  gatewayClassName: eg
  listeners: [{ name: http, protocol: HTTP, port: ${PORT} }]
`;

function route(name: string): string {
  return `---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name} }
spec:
  parentRefs: [{ name: web }]
  hostnames: [${name}.test]
  rules: [{ backendRefs: [{ name: web, port: 80 }] }]
`;
}

function policy(name: string, spec: string): string {
  return `---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: { name: ${name} }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: ${name} }]
  ${spec}
`;
}

/** The listener gets a free port, and the backend is where the echo server is. */
function placed(json: JsonObject, backend: string): JsonObject {
  const [host = '', port] = backend.split(':');
  const replaced = (value: Json | undefined): Json => {
    if (Array.isArray(value)) return (value as readonly Json[]).map(replaced);
    if (typeof value !== 'object' || value === null) return value ?? null;
    const { address, port_value } = value as JsonObject;
    if (address === 'web') return { address: host, port_value: Number(port) };
    if (port_value === PORT) return { ...value, port_value: 0 };
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaced(each)]));
  };
  return replaced(json) as JsonObject;
}

test('routes of Envoy Gateway are open, closed or asked about as their policies said', async t => {
  const service = await startEchoServer('web');
  t.after(() => service.close());
  const objects = readObjects(
    'site.yaml',
    [
      SITE,
      ...['open', 'keys', 'tokens'].map(route),
      policy('keys', 'apiKeyAuth: { credentialRefs: [{ name: keys }] }'),
      policy(
        'tokens',
        'jwt: { providers: [{ name: a, remoteJWKS: { uri: "https://login.test/keys" } }] }',
      ),
    ].join(''),
  );
  const { documents } = importObjects(objects, { ingressClass: 'nginx', to: 'mappings', check });
  const change = (json: JsonObject) => placed(json, service.address);
  const edge = { host: '127.0.0.1', port: PORT };
  const nobody = { host: '127.0.0.1', port: 1 };
  const envoy = await startCompiled(toYaml(documents), 'edge', change, nobody, { edge });
  t.after(() => envoy.stop());
  const statusOf = async (host: string) => (await envoy.ask('/', { host })).status;
  assert.equal(await statusOf('open.test'), 200);
  assert.equal(await statusOf('keys.test'), 500);
  assert.ok((await statusOf('tokens.test')) >= 400, 'nobody decides about it');
});
