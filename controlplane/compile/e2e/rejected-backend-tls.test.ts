import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { startEchoServer } from './echo-server.ts';
import { GATEWAY_EDGE, withPorts } from './gateway-ports.ts';

let plain: Awaited<ReturnType<typeof startEchoServer>>;
let envoy: CompiledEnvoy;

before(async () => {
  plain = await startEchoServer('plain');
  const addresses = { cart: plain.address, shop: plain.address };
  const change: Parameters<typeof startCompiled>[2] = json => withPorts(json, addresses);
  envoy = await startCompiled(RESOURCES, 'edge', change, undefined, { edge: GATEWAY_EDGE });
});

after(async () => {
  await envoy?.stop();
  await plain?.close();
});

const RESOURCES = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: gateway}
spec: {controllerName: gateway.internal/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: site}
spec:
  gatewayClassName: gateway
  listeners: [{name: any, port: 8000, protocol: HTTP}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: site}
spec:
  parentRefs: [{name: site}]
  rules:
    - {matches: [{path: {value: /cart}}], backendRefs: [{name: cart, port: 80}]}
    - {matches: [{path: {value: /shop}}], backendRefs: [{name: shop, port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: cart}
spec:
  targetRefs: [{group: '', kind: Service, name: cart}]
  validation: {hostname: cart.test, wellKnownCACertificates: system}
`;

test('a Service gets no request in the clear while the BackendTLSPolicy for it is rejected', async () => {
  assert.equal((await envoy.ask('/shop')).status, 200, 'the policy names another Service');
  assert.equal((await envoy.ask('/cart')).status, 500);
});
