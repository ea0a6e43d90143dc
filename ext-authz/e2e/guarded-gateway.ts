import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { UnsecuredJWT } from 'jose';
import { startEchoServer } from '#controlplane/compile/e2e/echo-server.ts';
import { GATEWAY_EDGE, withPorts } from '#controlplane/compile/e2e/gateway-ports.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { openStoreKey } from '#ext-authz/store/store-key.ts';
import { type GuardedEnvoy, startGuarded } from './guarded-envoy.ts';
import { openKit } from './open-kit.ts';
import { openStore } from './open-store.ts';

/** A server that the resources name as a Service. */
type Backend = { readonly address: string; close(): Promise<void> };

/**
 * Starts a real Envoy with the real Filters before the tests of a file, and stops it after them.
 * The Service `up` echoes, and `others` starts more by name, before a function gives the YAML.
 */
export function guardedGateway(
  yaml: string | (() => string),
  others: () => Promise<Readonly<Record<string, Backend>>> = async () => ({}),
): Pick<GuardedEnvoy, 'ask' | 'echo'> & { readonly envoy: () => GuardedEnvoy } {
  const folder = mkdtempSync(join(tmpdir(), 'guarded-gateway-'));
  let backends: Readonly<Record<string, Backend>> = {};
  let store: RecordStore;
  let envoy: GuardedEnvoy;
  before(async () => {
    backends = { up: await startEchoServer('up'), ...(await others()) };
    store = await openStore(folder);
    const kit = openKit(store, openStoreKey(folder, randomBytes));
    const addresses = Object.fromEntries(
      Object.entries(backends).map(([name, { address }]) => [name, address]),
    );
    const change = (bootstrap: Parameters<typeof withPorts>[0]) => withPorts(bootstrap, addresses);
    const text = typeof yaml === 'string' ? yaml : yaml();
    envoy = await startGuarded(text, kit, undefined, change, { edge: GATEWAY_EDGE });
  });
  after(async () => {
    await envoy.stop();
    await store.close();
    for (const backend of Object.values(backends)) await backend.close();
    rmSync(folder, { recursive: true });
  });
  return {
    envoy: () => envoy,
    ask: (path, asked) => envoy.ask(path, asked),
    echo: (path, asked) => envoy.echo(path, asked),
  };
}

/** The class of our Gateways. */
export const CLASS = `---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: gateway}
spec: {controllerName: gateway.internal/gateway-controller}
`;

/**
 * Returns the Gateway `site` with these listeners, and the HTTPRoute `site` with these rules, which
 * has every host of every listener.
 */
export function site(listeners: readonly string[], rules: readonly string[]): string {
  return `${CLASS}---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: site}
spec:
  gatewayClassName: gateway
  listeners:
${listeners.map(each => `    - ${each}\n`).join('')}---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: site}
spec:
  parentRefs: [{name: site}]
  rules:
${rules.map(each => `    - ${each}\n`).join('')}`;
}

/** Returns a resource of our own API group. */
export function own(kind: string, name: string, spec: string): string {
  return `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
}

/** Returns a Filter that takes tokens of anyone and tells a claim in the header `X-<name>`. */
export function jwt(name: string, more = '', claim = 'sub'): string {
  return own(
    'Filter',
    name,
    `{JWT: {validAlgorithms: [none], ${more}injectRequestHeaders: [{name: X-${name}, value: '{{ .token.Claims.${claim} }}'}]}}`,
  );
}

/** Returns the filter of a rule or of a listener that names a Filter. */
export function filterRef(name: string): string {
  return `{type: ExtensionRef, extensionRef: {group: gateway.internal, kind: Filter, name: ${name}}}`;
}

/** Returns the header of a token with these claims. */
export function bearer(claims: Readonly<Record<string, string>>): { authorization: string } {
  return { authorization: `Bearer ${new UnsecuredJWT(claims).encode()}` };
}
