import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { startEchoServer } from './echo-server.ts';
import { startRateLimitStub } from './rate-limit-stub.ts';

let blue: Awaited<ReturnType<typeof startEchoServer>>;
let green: Awaited<ReturnType<typeof startEchoServer>>;
let envoy: CompiledEnvoy;

before(async () => {
  [blue, green] = await Promise.all([startEchoServer('blue'), startEchoServer('green')]);
  envoy = await startCompiled(RESOURCES(blue.address, green.address));
});

after(async () => {
  await envoy.stop();
  await Promise.all([blue.close(), green.close()]);
});

const mapping = (name: string, spec: string) =>
  `---\napiVersion: getambassador.io/v2\nkind: Mapping\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

const ADDED = `{
  X-Static: a b,
  x-more: mine,
  x-percent: '100%% of %PROTOCOL% to %UPSTREAM_CLUSTER%',
  x-mine: {value: mine, append: false},
  x-copy: {value: '%REQ(x-absent)%', append: false},
  x-none: '%REQ(x-absent)%',
  x-old-host: '%REQ(:authority)%',
  authorization: {value: Basic eDp5, append: false}
  }`;

const RESOURCES = (blue: string, green: string) =>
  [
    mapping('request', `prefix: /request/, service: '${blue}', add_request_headers: ${ADDED}`),
    mapping(
      'removed',
      `prefix: /removed/, service: '${blue}', remove_request_headers: [X-Internal, cookie]`,
    ),
    mapping(
      'replaced',
      `prefix: /replaced/, service: '${blue}', remove_request_headers: x-a, add_request_headers: {x-a: mine}`,
    ),
    mapping(
      'response',
      `prefix: /response/, service: '${blue}', remove_response_headers: [x-envoy-upstream-service-time, content-type, server],
      add_response_headers: {x-client: '%REQ(x-id)%', x-served: '%RESPONSE_CODE%', content-length-was: '%RESP(content-length)%'}`,
    ),
    mapping(
      'down',
      `prefix: /down/, service: '127.0.0.1:1', add_response_headers: {x-served: '%ROUTE_NAME%'}`,
    ),
    mapping(
      'canary-old',
      `prefix: /canary/, service: '${blue}', add_response_headers: {x-version: old}`,
    ),
    mapping(
      'canary-new',
      `prefix: /canary/, service: '${green}', weight: 50, add_request_headers: {x-version: new}, remove_request_headers: x-stable`,
    ),
  ].join('');

test('a service gets the headers that its Mapping adds, beside those of the client or in their place', async () => {
  const { headers } = await envoy.echo('/request/', {
    host: 'shop.example.com',
    headers: {
      'X-More': 'theirs',
      'x-mine': 'theirs',
      'x-copy': 'theirs',
      Authorization: 'Bearer t',
    },
  });
  assert.equal(headers['x-static'], 'a b');
  assert.equal(headers['x-more'], 'theirs, mine');
  assert.equal(headers['x-mine'], 'mine');
  assert.equal(headers['x-old-host'], 'shop.example.com');
  assert.equal(headers['x-percent'], `100% of HTTP/1.1 to ${blue.address}`);
  assert.equal(headers.authorization, 'Basic eDp5');
});

test('what replaces a header does so also when it comes to nothing, and nothing is added of it', async () => {
  const { headers } = await envoy.echo('/request/', { headers: { 'x-copy': 'theirs' } });
  assert.equal(headers['x-copy'], '');
  assert.equal(headers['x-none'], undefined);
});

test('a service does not get what its Mapping removes', async () => {
  const sent = { 'x-internal': ['1', '2'], Cookie: 'a=b', 'x-other': '3' };
  const { headers } = await envoy.echo('/removed/', { headers: sent });
  assert.deepEqual(
    [headers['x-internal'], headers.cookie, headers['x-other']],
    [undefined, undefined, '3'],
  );
});

test('headers are removed before they are added', async () => {
  const { headers } = await envoy.echo('/replaced/', { headers: { 'x-a': 'theirs' } });
  assert.equal(headers['x-a'], 'mine');
});

test('a client gets the headers that the Mapping adds, and not those that it removes', async () => {
  const { headers } = await envoy.ask('/response/', { headers: { 'x-id': '7' } });
  assert.equal(headers['x-client'], '7');
  assert.equal(headers['x-served'], '200');
  assert.equal(headers['content-length-was'], headers['content-length']);
  assert.equal(headers['x-envoy-upstream-service-time'], undefined);
  assert.equal(headers['content-type'], undefined);
  assert.equal(headers.server, 'envoy', 'which has a warning');
});

test("they stand in Envoy's own answers, too", async () => {
  const { headers, status } = await envoy.ask('/down/');
  assert.deepEqual([status, headers['x-served']], [503, 'Mapping/default/down']);
});

test('of Mappings that share a route each changes the headers of its own requests', async () => {
  const seen = new Set<string>();
  for (let at = 0; at < 200 && seen.size < 2; at++) {
    const { headers, body } = await envoy.ask('/canary/', { headers: { 'x-stable': '1' } });
    const echo = JSON.parse(body);
    seen.add(
      [
        echo.server,
        headers['x-version'],
        echo.headers['x-version'],
        echo.headers['x-stable'],
      ].join(),
    );
  }
  assert.deepEqual([...seen].sort(), ['blue,old,,1', 'green,,new,']);
});

test('labels read the headers of the client, not those that the Mapping changes', async t => {
  const limits = await startRateLimitStub();
  t.after(limits.stop);
  const labelled = await startCompiled(
    mapping(
      'labelled',
      `prefix: /, service: '${blue.address}', labels: {gateway: [{a: [{tenant: {header: x-tenant}}]}]},
      add_request_headers: {x-tenant: {value: mine, append: false}}`,
    ) +
      `---\napiVersion: gateway.internal/v2\nkind: RateLimitService\nmetadata: {name: l}\nspec: {service: '${limits.address}', timeout_ms: 2000}\n`,
  );
  t.after(labelled.stop);
  const { headers } = await labelled.echo('/', { headers: { 'x-tenant': 'theirs' } });
  assert.equal(headers['x-tenant'], 'mine');
  assert.deepEqual(
    limits.asked().map(({ descriptors }) => descriptors),
    [['tenant=theirs']],
  );
});
