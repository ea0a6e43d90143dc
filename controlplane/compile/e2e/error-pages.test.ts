import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { freePort } from '#grpc/testing/free-port.ts';
import { startAuthorizationStub } from './authorization-stub.ts';
import { type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { startFailingServer } from './failing-server.ts';
import { startRateLimitStub } from './rate-limit-stub.ts';

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

const RESOURCES = [
  // So that a client may choose its request id.
  document('Module', 'gateway', 'config: {use_remote_address: false}'),
  document('Mapping', 'down', "host: site.test, prefix: /down/, service: '127.0.0.1:1'"),
  document('Mapping', 'closed', "host: site.test, prefix: /closed/, service: 'ftp://x'"),
  document(
    'Mapping',
    'away',
    'host: site.test, prefix: /away/, service: other.test, host_redirect: true',
  ),
].join('');

let envoy: CompiledEnvoy;

before(async () => {
  envoy = await startCompiled(RESOURCES);
});

after(() => envoy.stop());

const BROWSER = 'text/html,application/xhtml+xml,*/*;q=0.8';
const EVIL = '<script>alert(1)</script>"';

const ANSWERS: readonly (readonly [
  path: string,
  headers: Record<string, string>,
  number,
  words: RegExp,
])[] = [
  ['/nowhere', {}, 404, /^Nothing is served at this address\.$/],
  ['/down/x', {}, 503, /^The service cannot be reached\. Try again in a moment\.$/],
  ['/closed/x', {}, 500, /^This route is closed: its configuration has an error\.$/],
  ['/down/x', { connection: 'upgrade', upgrade: 'websocket' }, 403, /^The gateway does not accept/],
  ['/down/a%2Fb', {}, 400, /^The gateway does not accept this request\.$/],
  [
    '/down/x',
    { big: 'x'.repeat(70_000) },
    431,
    /^The header fields of the request are too large\.$/,
  ],
];

for (const [path, headers, status, words] of ANSWERS) {
  test(`${path} with ${Object.keys(headers).join() || 'nothing else'} is ${status} in plain words, as JSON`, async () => {
    const answer = await envoy.ask(path, { host: 'site.test', headers });
    assert.equal(answer.status, status);
    assert.equal(answer.headers['content-type'], 'application/json');
    const { message, request_id, status_code, ...others } = JSON.parse(answer.body);
    assert.match(message, words);
    assert.deepEqual([status_code, others], [status, {}]);
    // Envoy answers these before it gives the request an id.
    if (status !== 431 && status !== 400) assert.match(request_id, /^[0-9a-f-]{36}$/);
  });
}

test('a browser gets a page, with the words and the request id', async () => {
  for (const [path, status, words] of [
    ['/nowhere', 404, 'Nothing is served at this address.'],
    ['/closed/x', 500, 'This route is closed: its configuration has an error.'],
    ['/down/x', 503, 'The service cannot be reached. Try again in a moment.'],
  ] as const) {
    const {
      body,
      headers,
      status: answered,
    } = await envoy.ask(path, {
      host: 'site.test',
      headers: { accept: BROWSER },
    });
    assert.equal(answered, status);
    assert.equal(headers['content-type'], 'text/html; charset=utf-8');
    assert.equal(headers['content-security-policy'], "default-src 'none'; frame-ancestors 'none'");
    assert.ok(body.includes(`<h1>${status}</h1><p>${words}</p>`), body);
    assert.match(body, /Request id: [0-9a-f-]{36}</);
  }
});

test('nothing that a client sends stands in a page', async () => {
  for (const accept of [BROWSER, 'application/json']) {
    const { body, headers } = await envoy.ask(`/nowhere?${encodeURI(EVIL)}`, {
      host: 'site.test',
      headers: { accept, 'x-request-id': EVIL, 'user-agent': EVIL },
    });
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(JSON.parse(body).request_id, EVIL);
  }
  const page = await envoy.ask('/nowhere', {
    host: 'site.test',
    headers: { accept: BROWSER, 'x-request-id': 'chosen-1' },
  });
  assert.match(page.body, /Request id: chosen-1</);
});

test('a gRPC call is answered as gRPC', async () => {
  const { body, headers, status } = await envoy.ask('/nowhere', {
    host: 'site.test',
    headers: { accept: BROWSER, 'content-type': 'application/grpc' },
  });
  assert.deepEqual(
    [status, headers['content-type'], headers['grpc-status']],
    [200, 'application/grpc', '12'],
  );
  assert.equal(body, '');
  assert.doesNotMatch(String(headers['grpc-message']), /[<{]/);
});

test('a redirect is no error', async () => {
  const { body, status } = await envoy.ask('/away/x', { host: 'site.test' });
  assert.deepEqual([status, body], [301, '']);
});

test('what is no HTTP at all is answered too', async () => {
  const socket = connect(envoy.port, '127.0.0.1');
  socket.write('nonsense\r\n\r\n');
  assert.match(await text(socket), /^HTTP\/1\.1 400 /);
});

const OVERRIDES = `config: {error_response_overrides: [
  {on_status_code: 404, body: {text_format: '<b>%RESPONSE_CODE%</b> 100%%', content_type: text/html; charset=utf-8}},
  {on_status_code: 401, body: {json_format: {error: 'not you', status: '%RESPONSE_CODE%'}}},
  {on_status_code: 429, body: {text_format: slowly}},
  {on_status_code: 503, body: {text_format: 'away, %PROTOCOL%'}},
  {on_status_code: 503, body: {text_format: 'never'}}]}`;

test("the operator's bodies replace those of Envoy, of Filters and of limits, and no others", async t => {
  const [filters, limits, service] = await Promise.all([
    startAuthorizationStub('/refused/'),
    startRateLimitStub(),
    startFailingServer(),
  ]);
  t.after(() => Promise.all([filters.stop(), limits.stop(), service.close()]));
  limits.answer({ overall_code: 2, raw_body: Buffer.from('too many') });
  const mapping = (name: string, fields: string) =>
    document('Mapping', name, `prefix: /${name}/, ${fields}`);
  const overriding = await startCompiled(
    [
      document('Module', 'gateway', OVERRIDES),
      mapping('down', "service: '127.0.0.1:1'"),
      mapping('closed', "service: 'ftp://x'"),
      mapping('refused', "service: '127.0.0.1:1'"),
      mapping('service', `service: '${service.address}'`),
      mapping('limited', `service: '${service.address}', labels: {gateway: [{g: [limited]}]}`),
      document('RateLimitService', 'stub', `service: '${limits.address}', timeout_ms: 2000`),
      document('Filter', 'login', "JWT: {jwksURI: 'https://idp.example/keys'}"),
      document('FilterPolicy', 'all', 'rules: [{path: /refused/*, filters: [{name: login}]}]'),
    ].join(''),
    'edge',
    undefined,
    filters.address,
  );
  t.after(() => overriding.stop());

  for (const [path, status, type, body] of [
    ['/nowhere', 404, 'text/html; charset=utf-8', '<b>404</b> 100%'],
    ['/down/x', 503, 'text/plain', 'away, HTTP/1.1'],
    ['/limited/x', 429, 'text/plain', 'slowly'],
    ['/service/404', 404, undefined, ''],
    ['/service/503', 503, undefined, ''],
  ] as const) {
    const answer = await overriding.ask(path, { headers: { accept: BROWSER } });
    assert.deepEqual(
      [answer.status, answer.headers['content-type'], answer.body],
      [status, type, body],
    );
  }
  const refused = await overriding.ask('/refused/x');
  assert.equal(refused.status, 401);
  assert.equal(refused.headers['content-type'], 'application/json');
  assert.equal(refused.headers['www-authenticate'], 'Bearer', 'what Filters say in headers stays');
  assert.deepEqual(JSON.parse(refused.body), { error: 'not you', status: 401 });
  assert.match((await overriding.ask('/closed/x')).body, /This route is closed/);
  const grpc = await overriding.ask('/down/x', { headers: { 'content-type': 'application/grpc' } });
  assert.deepEqual([grpc.status, grpc.headers['grpc-status'], grpc.body], [200, '14', '']);
  assert.doesNotMatch(String(grpc.headers['grpc-message']), /away/);
});

test('the proxy before a service has them too', async t => {
  const side = await startCompiled(
    [
      document('Module', 'gateway', OVERRIDES),
      document(
        'ProxyConfig',
        'side',
        `node_group: side, listener: {port: ${await freePort()}},
         virtual_hosts: [{name: all, domains: ['*'], routes: [{prefix: /, cluster: instance}]}],
         clusters: [{name: instance, type: static, hosts: [{url: 'tcp://127.0.0.1:1'}]}]`,
      ),
    ].join(''),
    'side',
  );
  t.after(() => side.stop());
  const { body, headers } = await side.ask('/x');
  assert.deepEqual([body, headers['x-gateway-retriable']], ['away, HTTP/1.1', 'true']);
});
