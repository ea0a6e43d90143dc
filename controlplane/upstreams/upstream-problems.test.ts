import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '#controlplane/compile/compile.ts';
import type { CompileOptions } from '#controlplane/compile/options.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { CLASS, gateway } from '#controlplane/gateway-api/testing/documents.ts';
import { describeProblem } from '#controlplane/rollout/problems.ts';
import type { Failure } from './failure.ts';
import { upstreamsOf } from './upstream.ts';
import { upstreamProblems } from './upstream-problems.ts';

const ADDRESS = { host: '127.0.0.1', port: 1 };
const OPTIONS = { edge: ADDRESS, sds: ADDRESS, rateLimit: ADDRESS, extAuthz: ADDRESS };
const SINCE = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const FAILURE = { kind: 'connect', address: 'a:1', reason: 'refused' } as const;
const WHAT =
  'a:1 accepts no connection (refused). Correct the address or port, or start the service.';

/** Returns what is told when every cluster of these resources that `fails` is not reached. */
function told(
  text: string,
  fails: (cluster: string) => boolean,
  failure: Failure = FAILURE,
  options: CompileOptions = OPTIONS,
): readonly string[] {
  const { resources } = resourceSetOf(text);
  const all = [
    ...[...resources.mappings, ...resources.proxyConfigs, ...resources.tlsContexts],
    ...[...resources.rateLimitServices, ...resources.logServices, ...resources.tracingServices],
    ...[...resources.gateways, ...resources.httpRoutes, ...resources.tcpRoutes],
  ];
  const troubles = upstreamsOf('edge', compile(resources, 'edge', options))
    .filter(({ cluster }) => fails(cluster))
    .map(upstream => ({ upstream, failure, since: SINCE }));
  return upstreamProblems(troubles, new Map(all.map(each => [each.id, each]))).map(describeProblem);
}

const document = (kind: string, name: string, spec: string) =>
  `apiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec:\n  ${spec}\n---\n`;
const mapping = (name: string, spec: string) =>
  document('Mapping', name, `prefix: /${name}/\n  ${spec}`);

test('each Mapping of a failing service is told, not the TLSContext that it uses', () => {
  const text = [
    mapping('a', 'service: shop\n  tls: c'),
    mapping('b', 'service: shop\n  tls: c'),
    mapping('c', 'service: other'),
    document('TLSContext', 'c', 'sni: shop'),
  ].join('');
  assert.deepEqual(
    told(text, cluster => cluster.startsWith('shop')),
    [
      `warning: Mapping default/a (in.yaml:6, spec.service): ${WHAT} Until then requests get 503. Since 2026-01-02T03:04:05Z`,
      `warning: Mapping default/b (in.yaml:14, spec.service): ${WHAT} Until then requests get 503. Since 2026-01-02T03:04:05Z`,
    ],
  );
});

test('of a Mapping that gets copies alone, copies are lost', () => {
  const text = mapping('a', 'service: well') + mapping('b', 'service: shop\n  shadow: true');
  const [line] = told(text, cluster => cluster.startsWith('shop'));
  assert.match(line ?? '', /Until then copies of requests are lost\. Since/);
});

test('a cluster of a ProxyConfig is told at its hosts', () => {
  const text = document(
    'ProxyConfig',
    'p',
    'node_group: edge\n  clusters:\n    - name: shop\n      type: static\n      hosts:\n        - url: tcp://127.0.0.1:9',
  );
  assert.deepEqual(
    told(text, cluster => cluster === 'shop'),
    [
      `warning: ProxyConfig default/p (in.yaml:9, spec.clusters[0].hosts): ${WHAT} Until then requests get 503. Since 2026-01-02T03:04:05Z`,
    ],
  );
});

test('a RateLimitService is told, and without one the built-in services', () => {
  const isLimits = (cluster: string) => cluster === 'ratelimit-service';
  assert.deepEqual(told(document('RateLimitService', 'r', 'service: limits'), isLimits), [
    `warning: RateLimitService default/r (in.yaml:5, spec.service): ${WHAT} Until then limits are not counted. Since 2026-01-02T03:04:05Z`,
  ]);
  const closing = document('RateLimitService', 'r', 'service: limits\n  failure_mode_deny: true');
  assert.deepEqual(told(closing, isLimits), [
    `warning: RateLimitService default/r (in.yaml:5, spec.service): ${WHAT} Until then requests with labels are rejected. Since 2026-01-02T03:04:05Z`,
  ]);
  const authz = `Service ext-authz: the proxies of node group "edge" do not reach it: ${WHAT}`;
  assert.deepEqual(
    told('', cluster => cluster === 'ext-authz'),
    [
      `warning: ${authz} Until then requests to routes that a rule may match get 503. Since 2026-01-02T03:04:05Z`,
    ],
  );
  assert.deepEqual(told('', isLimits), [
    `warning: Service ratelimit-service: the proxies of node group "edge" do not reach it: ${WHAT} Until then limits are not counted. Since 2026-01-02T03:04:05Z`,
  ]);
});

test('the collectors of logs and traces are told, with what is lost', () => {
  const text = (kind: string) =>
    document(kind, 'c', 'service: collector:4317\n  driver: opentelemetry');
  assert.deepEqual(
    told(text('LogService') + text('TracingService'), cluster => /^(log|tracing)-/.test(cluster)),
    [
      `warning: LogService default/c (in.yaml:5, spec.service): ${WHAT} Until then entries of the access log are lost. Requests go on. Since 2026-01-02T03:04:05Z`,
      `warning: TracingService default/c (in.yaml:12, spec.service): ${WHAT} Until then spans are lost. Requests go on. Since 2026-01-02T03:04:05Z`,
    ],
  );
});

test('a handshake of the mutual TLS of the gateway is mended by no setting of TLS', () => {
  const reason = 'TLS_error:|268435703:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER';
  const tls = { kind: 'tls', address: 'a:1', reason } as const;
  const elsewhere = { host: '192.0.2.1', port: 1 };
  const options = { ...OPTIONS, hopTls: true, serviceTls: true, rateLimit: elsewhere };
  const toldOf = (text: string, name: string) =>
    told(text, cluster => cluster === name, tls, options)[0] ?? '';
  const shop = mapping('a', 'service: shop\n  resolver: sds');
  assert.match(
    toldOf(shop, 'shop'),
    /\)\. The proxies ask it .* Write `hop_tls: false` if no proxy/,
  );
  const plain = mapping('a', 'service: https://shop');
  assert.match(toldOf(plain, 'shop'), /\)\. The service speaks no TLS there: write it without/);
  const service = document('RateLimitService', 'r', 'service: 192.0.2.1:1');
  for (const text of ['', service])
    assert.match(toldOf(text, 'ratelimit-service'), /\)\. Look at its log and at that of sds/);
});

const GATEWAY =
  CLASS +
  gateway(
    'g',
    'listeners: [{name: http, port: 80, protocol: HTTP}, {name: tcp, port: 90, protocol: TCP}]',
    { namespace: 'default' },
  );
const route = (kind: string, listener: string, rule: string) =>
  `apiVersion: gateway.networking.k8s.io/v1\nkind: ${kind}\nmetadata: {name: r}\nspec:\n  parentRefs: [{name: g, sectionName: ${listener}}]\n  rules:\n    - backendRefs: [{name: well, port: 80}]\n      ${rule}\n---\n`;

test('a backend of a route is told at its reference, in the words of Gateway API', () => {
  const mirror =
    'filters: [{type: RequestMirror, requestMirror: {backendRef: {name: shop, port: 80}}}]';
  const text =
    GATEWAY +
    route('HTTPRoute', 'http', mirror) +
    route('TCPRoute', 'tcp', '').replaceAll('well', 'shop');
  assert.deepEqual(
    told(text, cluster => cluster.startsWith('Service/default/shop')),
    [
      `warning: HTTPRoute default/r (in.yaml:18, spec.rules[0].filters[0].requestMirror.backendRef): ${WHAT} Until then copies of requests are lost. Since 2026-01-02T03:04:05Z`,
      `warning: TCPRoute default/r (in.yaml:26, spec.rules[0].backendRefs[0]): ${WHAT} Until then connections are closed. Since 2026-01-02T03:04:05Z`,
    ],
  );
  const broken = { kind: 'broken', address: 'a:1', reason: 'reset', isTls: false } as const;
  const tls = { kind: 'tls', address: 'a:1', reason: 'unknown CA' } as const;
  for (const [failure, words] of [
    [broken, /Then name its Service in a BackendTLSPolicy\./],
    [tls, /Name the authority of its certificate in `caCertificateRefs` of its BackendTLSPolicy\./],
    [{ kind: 'late', routes: ['HTTPRoute/default/r'] }, /raise `timeouts`\./],
  ] as const)
    assert.match(
      told(text, cluster => cluster === 'Service/default/well:80', failure)[0] ?? '',
      words,
    );
});

test('a service that leaves calls without an answer is told apart from one that is not reached', () => {
  const isLimits = (cluster: string) => cluster === 'ratelimit-service';
  const late = 'nearly all calls get no answer in time. Look at its log, and';
  const rest = 'Until then limits are not counted. Since 2026-01-02T03:04:05Z';
  assert.deepEqual(told('', isLimits, { kind: 'silent' }), [
    `warning: Service ratelimit-service: node group "edge": ${late} restart it if it hangs. ${rest}`,
  ]);
  const own = document('RateLimitService', 'r', 'service: limits');
  assert.deepEqual(told(own, isLimits, { kind: 'silent' }), [
    `warning: RateLimitService default/r (in.yaml:5, spec.service): ${late} raise \`timeout_ms\`. ${rest}`,
  ]);
  const log = document('LogService', 'l', 'service: logs\n  driver: opentelemetry');
  assert.deepEqual(
    told(log, cluster => cluster === 'log-service', { kind: 'silent' }),
    [
      `warning: LogService default/l (in.yaml:5, spec.service): ${late} restart it if it hangs. Until then entries of the access log are lost. Requests go on. Since 2026-01-02T03:04:05Z`,
    ],
  );
});

test('of several Mappings of one service those are told whose requests are late', () => {
  const text = [
    mapping('quick', 'service: shop\n  timeout_ms: 100'),
    mapping('patient', 'service: shop\n  timeout_ms: 10000'),
    mapping(
      'forever',
      'service: shop\n  timeout_ms: 0\n  retry_policy: {retry_on: reset, per_try_timeout: 50ms}',
    ),
  ].join('');
  const lateOf = (...names: readonly string[]) =>
    told(text, cluster => cluster.startsWith('shop'), {
      kind: 'late',
      routes: names.map(name => `Mapping/default/${name}`),
    }).map(line => /Mapping default\/(\w+) .*raise `(\w+)`/.exec(line)?.slice(1).join());
  assert.deepEqual(lateOf('quick'), ['quick,timeout_ms']);
  assert.deepEqual(lateOf('forever', 'quick'), ['forever,per_try_timeout', 'quick,timeout_ms']);
});

test('of thousands the first ones are told', () => {
  const text = Array.from({ length: 1_200 }, (_, at) => mapping(`m${at}`, 'service: shop'));
  assert.equal(told(text.join(''), cluster => cluster === 'shop').length, 1_000);
});
