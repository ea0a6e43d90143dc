import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { compile } from '#controlplane/compile/compile.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { compileOptions } from '../../../cli/built-in-addresses.ts';
import type { ClientRequest } from '../client-request.ts';
import { toEnvoyRequest } from '../envoy-request.ts';
import { listenerSettings } from '../listener-settings.ts';
import { type RoutingEnvoy, startRoutingEnvoy } from '../testing/routing-envoy.ts';

/** Settings of the Module that decide which proxies Envoy trusts. */
const TRUST = [
  '{}',
  '{xff_num_trusted_hops: 1}',
  '{xff_num_trusted_hops: 2}',
  '{use_remote_address: false}',
  '{use_remote_address: false, xff_num_trusted_hops: 1}',
];

const FORWARDED_FOR: readonly (readonly string[])[] = [
  [],
  ['1.2.3.4'],
  ['1.2.3.4, 5.6.7.8'],
  ['1.2.3.4,5.6.7.8 , 2001:DB8:0::1'],
  ['1.2.3.4', '5.6.7.8'],
  ['1.2.3.4, nonsense'],
  ['nonsense, 1.2.3.4'],
  [''],
  ['1.2.3.4,'],
  ['1.2.3.4:80'],
  ['::ffff:1.2.3.4, ::1'],
];

/** Headers that Envoy may drop or set. */
const OWN: readonly string[] = [
  'keep-alive',
  'proxy-connection',
  'x-envoy-attempt-count',
  'x-envoy-decorator-operation',
  'x-envoy-downstream-service-cluster',
  'x-envoy-downstream-service-node',
  'x-envoy-expected-rq-timeout-ms',
  'x-envoy-external-address',
  'x-envoy-force-trace',
  'x-envoy-hedge-on-per-try-timeout',
  'x-envoy-internal',
  'x-envoy-ip-tags',
  'x-envoy-max-retries',
  'x-envoy-original-host',
  'x-envoy-original-path',
  'x-envoy-original-url',
  'x-envoy-retriable-header-names',
  'x-envoy-retriable-status-codes',
  'x-envoy-retry-grpc-on',
  'x-envoy-retry-on',
  'x-envoy-upstream-alt-stat-name',
  'x-envoy-upstream-rq-per-try-timeout-ms',
  'x-envoy-upstream-rq-timeout-alt-response',
  'x-envoy-upstream-rq-timeout-ms',
  'x-envoy-upstream-stream-duration-ms',
  'x-forwarded-client-cert',
  'x-forwarded-host',
  'x-forwarded-port',
];

const OTHERS: readonly (readonly [string, string])[] = [
  ['x-a', 'first'],
  ['x-a', 'second'],
  ['accept', 'a'],
  ['accept', 'b'],
  ['x-empty', ''],
  ['x-limit', 'injected'],
  ['x-forwarded-proto', 'https'],
  ...OWN.map(name => [name, 'sent'] as const),
];

/**
 * The headers whose value in Envoy is compared. X-Forwarded-For ends in an address of this machine.
 */
const SEEN = [
  'x-a',
  'accept',
  'x-empty',
  'x-limit',
  'x-none',
  'x-forwarded-proto',
  ':authority',
  ':scheme',
  ':method',
  ...OWN,
];
const SHOWN = {
  'y-address': '%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%',
  ...Object.fromEntries(SEEN.map(name => [`y-${name.replace(':', '')}`, `[%REQ(${name})%]`])),
};

const RESOURCES = (config: string) => `apiVersion: gateway.internal/v2
kind: Module
metadata: {name: gateway}
spec: {config: ${config}}
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: all}
spec: {prefix: /, service: s}
---
apiVersion: gateway.internal/v2
kind: RateLimit
metadata: {name: inject}
spec: {domain: gateway, limits: [{pattern: [], rate: 1, unit: second, injectRequestHeaders: [{name: X-Limit, value: set}]}]}
`;

describe('the filters see the request that a real Envoy gives them', () => {
  const options = compileOptions({});
  const cases = new Map(
    TRUST.map(config => [
      config,
      compile(resourceSetOf(RESOURCES(config)).resources, 'edge', options),
    ]),
  );
  let envoy: RoutingEnvoy;
  before(async () => {
    envoy = await startRoutingEnvoy(cases, SHOWN);
  });
  after(() => envoy.stop());

  for (const [config, compiled] of cases) {
    for (const forwardedFor of FORWARDED_FOR) {
      test(`with ${config}, X-Forwarded-For ${JSON.stringify(forwardedFor)}`, async () => {
        const sent = [...forwardedFor.map(value => ['x-forwarded-for', value] as const), ...OTHERS];
        const request: ClientRequest = {
          method: 'GET',
          authority: 'Shop.example.com.:80',
          target: '/',
          headers: sent.map(([name, value]) => ({ name, value })),
          from: '127.0.0.1',
        };
        const settings = listenerSettings(compiled);
        assert.ok(settings);
        const { headers } = await envoy.ask(config, request);
        const seen = toEnvoyRequest(request, settings);
        assert.ok('headers' in seen);
        assert.equal(seen.remoteAddress, headers['y-address']);
        for (const name of SEEN) {
          const [value = '']: readonly string[] = seen.headers.get(name) ?? [];
          assert.equal(`[${value}]`, headers[`y-${name.replace(':', '')}`], name);
        }
      });
    }
  }
});
