import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { type Ask, type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { startEchoServer } from './echo-server.ts';
import { type RateLimitStub, startRateLimitStub } from './rate-limit-stub.ts';

let upstream: Awaited<ReturnType<typeof startEchoServer>>;
let service: RateLimitStub;
let envoy: CompiledEnvoy;

before(async () => {
  [upstream, service] = await Promise.all([startEchoServer('up'), startRateLimitStub()]);
  envoy = await startCompiled(resources(upstream.address, service.address));
});

after(async () => {
  await envoy.stop();
  await Promise.all([service.stop(), upstream.close()]);
});

beforeEach(() => {
  service.asked();
  service.answer({ overall_code: 1 });
});

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

const LOG_FORMAT =
  'limit %DYNAMIC_METADATA(proxy.filters.http.ratelimit:gw.ratelimit.name)% %DYNAMIC_METADATA(proxy.filters.http.ratelimit:gw.ratelimit.retry_after):1%';

const resources = (upstream: string, service: string) =>
  [
    document(
      'Module',
      'gateway',
      `{config: {default_labels: {gateway: {defaults: [edge]}, other: {defaults: [unsent]}}, proxy_log_format: '${LOG_FORMAT}'}}`,
    ),
    document('RateLimitService', 'limits', `{service: '${service}', timeout_ms: 2000}`),
    document(
      'Mapping',
      'every',
      `{prefix: /every/, service: '${upstream}', labels: {gateway: [{all: [source_cluster, destination_cluster, remote_address,
        bare, '%REQ(:path)%', {generic_key: '100%%'}, {path: {header: ':path'}}, {host: {header: Host}}, {__proto__: {header: X-A}}]}]}}`,
    ),
    document(
      'Mapping',
      'several',
      `{prefix: /several/, service: '${upstream}', labels: {gateway: [{a: [a]}, {b: [{tenant: {header: x-tenant}}]}], other: [{c: [c]}]}}`,
    ),
    document(
      'Mapping',
      'other',
      `{prefix: /other/, service: '${upstream}', labels: {other: [{c: [c]}], gateway: []}}`,
    ),
    document('Mapping', 'plain', `{prefix: /plain/, service: '${upstream}'}`),
    document(
      'ProxyConfig',
      'edge',
      `{node_group: edge, clusters: [{name: up, type: static, hosts: [{url: 'tcp://${upstream}'}]}],
        virtual_hosts: [{name: all, domains: ['*'], routes: [{prefix: /declared, cluster: up}]}]}`,
    ),
    document(
      'RateLimit',
      'inject',
      `{domain: gateway, limits: [{pattern: [{generic_key: edge}], rate: 1, unit: second, injectRequestHeaders: [{name: X-Limit, value: set}]}]}`,
    ),
  ].join('');

const LABELLED: readonly { ask: string; with?: Ask; labels: readonly string[]; why: string }[] = [
  {
    ask: '/every/x',
    with: { headers: { 'x-a': 'value' } },
    labels: [
      'generic_key=edge, source_cluster=test, destination_cluster=UPSTREAM, remote_address=127.0.0.1, ' +
        'generic_key=bare, generic_key=%REQ(:path)%, generic_key=100%%, path=/every/x, host=localhost, __proto__=value',
    ],
    why: 'each specifier gives its label, values are taken as they are written',
  },
  { ask: '/every/x', labels: [], why: 'a header that is absent drops the group' },
  {
    ask: '/several/x',
    with: { headers: { 'x-tenant': '' } },
    labels: ['generic_key=edge, generic_key=a', 'generic_key=edge, tenant='],
    why: 'the default labels stand before each group, and are no group of their own. An empty header counts as set',
  },
  {
    ask: '/several/x',
    labels: ['generic_key=edge, generic_key=a'],
    why: 'a header that is absent drops its own group only',
  },
  {
    ask: '/other/x',
    labels: ['generic_key=edge'],
    why: 'labels in another domain leave the default labels alone',
  },
  {
    ask: '/plain/x',
    labels: ['generic_key=edge'],
    why: 'a Mapping without labels has the default labels',
  },
  {
    ask: '/declared',
    labels: ['generic_key=edge'],
    why: 'a route of a ProxyConfig has the default labels',
  },
  { ask: '/nowhere', labels: [], why: 'there is no route' },
];

for (const { ask, with: asked, labels, why } of LABELLED) {
  test(`${ask} has ${labels.length} label groups: ${why}`, async () => {
    await envoy.ask(ask, asked);
    const descriptors = service.asked().flatMap(({ descriptors }) => descriptors);
    assert.deepEqual(
      descriptors,
      labels.map(text => text.replace('UPSTREAM', upstream.address)),
    );
  });
}

test('the service is told the domain and the request id', async () => {
  const { headers } = await envoy.echo('/plain/x');
  const [asked] = service.asked();
  assert.equal(asked?.domain, 'gateway');
  assert.equal(asked?.requestId, headers['x-request-id']);
});

test('what is over a limit is answered 429, without a word of the product', async () => {
  service.answer({ overall_code: 2, statuses: [{ code: 2 }] });
  const { status, headers, body } = await envoy.ask('/plain/x');
  assert.deepEqual([status, body], [429, '']);
  assert.equal(headers['x-envoy-ratelimited'], undefined);
});

test('gRPC is told RESOURCE_EXHAUSTED', async () => {
  service.answer({ overall_code: 2, statuses: [{ code: 2 }] });
  const { headers } = await envoy.ask('/plain/x', {
    method: 'POST',
    headers: { 'content-type': 'application/grpc' },
  });
  assert.equal(headers['grpc-status'], '8');
});

test('a client cannot send a header that a limit sets, under no spelling', async () => {
  const sent = { 'X-LIMIT': 'forged', 'x-limits': 'kept' };
  const { headers } = await envoy.echo('/plain/x', { headers: sent });
  assert.equal(headers['x-limit'], undefined);
  assert.equal(headers['x-limits'], 'kept');
  assert.equal((await envoy.ask('/plain/x', { headers: { x_limit: 'forged' } })).status, 400);
});

test("the service's own header reaches the upstream", async () => {
  service.answer({ overall_code: 1, request_headers_to_add: [{ key: 'X-Limit', value: 'set' }] });
  assert.equal(
    (await envoy.echo('/plain/x', { headers: { 'x-limit': 'forged' } })).headers['x-limit'],
    'set',
  );
});

test('the access log shows the metadata under the name of the documents', async () => {
  const fields = {
    'gw.ratelimit.name': { string_value: 'trial' },
    'gw.ratelimit.retry_after': { number_value: 27 },
  };
  service.answer({ overall_code: 1, dynamic_metadata: { fields } });
  await envoy.ask('/plain/x');
  await until(() => /^limit trial 2$/m.exec(envoy.log()) ?? undefined);
});
