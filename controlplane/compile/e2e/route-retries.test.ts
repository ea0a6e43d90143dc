import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { type FailingServer, startFailingServer } from './failing-server.ts';
import { GATEWAY_EDGE, withPorts } from './gateway-ports.ts';

let service: FailingServer;
let envoy: CompiledEnvoy;

/** The service gets the path behind the name. */
const rule = (name: string, fields: string) =>
  `{matches: [{path: {value: /${name}}}], filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}}], backendRefs: [{name: s, port: 80}], ${fields}}`;

const RESOURCES = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: gateway}
spec: {controllerName: gateway.internal/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: site}
spec: {gatewayClassName: gateway, listeners: [{name: http, port: 8000, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: retries}
spec:
  parentRefs: [{name: site}]
  rules:
    - ${rule('plain', '')}
    - ${rule('codes', 'retry: {attempts: 3, codes: [503]}')}
    - ${rule('never', 'retry: {attempts: 0, codes: [503]}')}
    - ${rule('late', 'retry: {attempts: 2}, timeouts: {backendRequest: 300ms}')}
    - ${rule('shorter', 'retry: {attempts: 1}, timeouts: {request: 60s, backendRequest: 300ms}')}
    - ${rule('bounded', 'retry: {attempts: 2}, timeouts: {request: 300ms, backendRequest: 300ms}')}
    - ${rule('unasked', 'timeouts: {backendRequest: 300ms}')}
`;

before(async () => {
  service = await startFailingServer();
  const change = (bootstrap: Parameters<typeof withPorts>[0]) =>
    withPorts(bootstrap, { s: service.address });
  envoy = await startCompiled(RESOURCES, 'edge', change, undefined, { edge: GATEWAY_EDGE });
});

after(async () => {
  await envoy.stop();
  await service.close();
});

beforeEach(() => {
  service.asked();
});

for (const [method, path, status, tries] of [
  ['GET', '/plain/reset', 503, 2],
  ['POST', '/plain/reset', 503, 1],
  ['POST', '/codes/503', 503, 4],
  ['POST', '/codes/500', 500, 1],
  ['GET', '/codes/reset', 503, 4],
  // The service may have worked on it.
  ['POST', '/codes/reset', 503, 1],
  ['GET', '/never/reset', 503, 1],
  ['POST', '/never/503', 503, 1],
  ['GET', '/late/silent', 504, 3],
  ['POST', '/late/silent', 504, 3],
  ['POST', '/late/reset', 503, 3],
  ['POST', '/shorter/silent', 504, 2],
  ['GET', '/bounded/silent', 504, 1],
  ['GET', '/unasked/silent', 504, 1],
] as const) {
  test(`${method} ${path} is answered ${status} after ${tries} tries`, async () => {
    const answer = await envoy.ask(path, { method });
    assert.equal(answer.status, status);
    const asked: string[] = [];
    // A try that took too long may arrive after the answer.
    await until(() => {
      asked.push(...service.asked());
      return asked.length >= tries || undefined;
    });
    assert.equal(asked.length, tries);
  });
}
