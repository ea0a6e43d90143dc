import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { after, before, test } from 'node:test';
import { startAuthorizationStub } from './authorization-stub.ts';
import { type CompiledEnvoy, type EnvoyAnswer, startCompiled } from './compiled-envoy.ts';
import { startRateLimitStub } from './rate-limit-stub.ts';

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

const OVERRIDES = `error_response_overrides: [
  {on_status_code: 404, body: {text_format: '<p>%RESPONSE_CODE% %REQ(X-NAME)% 100%%', content_type: text/html}},
  {on_status_code: 401, body: {text_format: "who?\\nyou"}},
  {on_status_code: 429, body: {text_format: slowly}},
  {on_status_code: 502, body: {text_format: 'kind %RESP(X-KIND)% %QUERY_PARAM(q)%'}},
  {on_status_code: 403, body: {text_format: 'no %REQ(UPGRADE)%'}},
  {on_status_code: 503, body: {json_format: {error: 'away', status: '%RESPONSE_CODE%', name: '%REQ(X-NAME)%'}}}]`;

const JSON_ERROR = (name: string) => `{"error":"away","name":"${name}","status":503}\n`;
const OWN = { 'retry-after': '7', 'set-cookie': ['a=1', 'b=2'], 'x-kind': 'own', etag: '"1"' };

/** How an answer comes, by the first part of the path. */
const WAYS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  whole: response => response.end('of the service'),
  empty: response => response.end(),
  coded: response => response.setHeader('content-encoding', 'gzip').end('not really'),
  large: response => response.end('x'.repeat(300_000)),
  parts: response => {
    response.write('x'.repeat(100_000));
    setImmediate(() => response.end('x'.repeat(200_000)));
  },
  // Neither length nor coding: it ends with the connection.
  unsaid: response => {
    response.useChunkedEncodingByDefault = false;
    response.setHeader('connection', 'close').write('of the service');
    response.end();
  },
  forging: response => response.setHeader('x-gateway-error-1', 'HEAD').end('of the service'),
};

let limits: Awaited<ReturnType<typeof startRateLimitStub>>;
let filters: Awaited<ReturnType<typeof startAuthorizationStub>>;
let envoy: CompiledEnvoy;
const service = createServer((request, response) => {
  const [, , way = '', status] = (request.url ?? '').split('/');
  for (const [name, value] of Object.entries(OWN)) response.setHeader(name, value);
  response.statusCode = Number.parseInt(status ?? '', 10);
  WAYS[way]?.(response);
});

before(async () => {
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const address = `127.0.0.1:${(service.address() as AddressInfo).port}`;
  [limits, filters] = await Promise.all([
    startRateLimitStub(),
    startAuthorizationStub('/refused/'),
  ]);
  const mapping = (name: string, fields: string) =>
    document('Mapping', name, `prefix: /${name}/, rewrite: '', ${fields}`);
  envoy = await startCompiled(
    [
      document(
        'Module',
        'gateway',
        'config: {error_response_overrides: [{on_status_code: 404, body: {text_format: module}}, {on_status_code: 500, body: {text_format: module}}]}',
      ),
      mapping('shop', `service: '${address}', add_response_headers: {x-shop: open}, ${OVERRIDES}`),
      mapping('plain', `service: '${address}'`),
      mapping('down', `service: '127.0.0.1:1', ${OVERRIDES}`),
      mapping('refused', `service: '${address}', ${OVERRIDES}`),
      mapping(
        'limited',
        `service: '${address}', labels: {gateway: [{g: [limited]}]}, ${OVERRIDES}`,
      ),
      document('RateLimitService', 'stub', `service: '${limits.address}', timeout_ms: 2000`),
      document('Filter', 'login', "JWT: {jwksURI: 'https://idp.example/keys'}"),
      document('FilterPolicy', 'all', 'rules: [{path: /refused/*, filters: [{name: login}]}]'),
    ].join(''),
    'edge',
    undefined,
    filters.address,
  );
});

after(async () => {
  await envoy?.stop();
  await Promise.all([limits?.stop(), filters?.stop()]);
  service.closeAllConnections();
  service.close();
});

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  envoy.ask(path, { headers, method });

function isClean({ headers }: EnvoyAnswer): void {
  assert.deepEqual(
    Object.keys(headers).filter(name => name.startsWith('x-gateway')),
    [],
  );
}

for (const way of Object.keys(WAYS)) {
  test(`an error of a service that comes ${way} has the body of the Mapping, and its own headers`, async () => {
    for (const [status, type, body] of [
      [404, 'text/html', '<p>404 ada 100%'],
      [502, 'text/plain', 'kind own -'],
      [503, 'application/json', JSON_ERROR('ada')],
    ] as const) {
      const answer = await ask(`/shop/${way}/${status}`, { 'x-name': 'ada' });
      assert.deepEqual(
        [answer.status, answer.headers['content-type'], answer.body],
        [status, type, body],
      );
      const {
        'retry-after': after,
        'set-cookie': cookies,
        'x-kind': kind,
        'x-shop': shop,
      } = answer.headers;
      assert.deepEqual([after, cookies, kind, shop], ['7', ['a=1', 'b=2'], 'own', 'open']);
      assert.deepEqual(
        [answer.headers.etag, answer.headers['content-encoding']],
        [undefined, undefined],
      );
      isClean(answer);
    }
  });
}

test('other answers of the service stay, and those of other Mappings', async () => {
  for (const path of [
    '/shop/whole/200',
    '/shop/whole/400',
    '/shop/large/500',
    '/plain/whole/404',
  ]) {
    const answer = await ask(path);
    assert.match(answer.body, path.includes('large') ? /^x{300000}$/ : /^of the service$/);
    assert.equal(answer.headers.etag, '"1"');
    isClean(answer);
  }
});

test("errors of the gateway, of Filters and of limits have the Mapping's bodies, before the Module's", async () => {
  limits.answer({ overall_code: 2, raw_body: Buffer.from('too many') });
  const [down, refused, limited, nowhere] = await Promise.all(
    ['/down/x', '/refused/x', '/limited/x', '/nowhere'].map(path => ask(path)),
  );
  assert.deepEqual([down?.status, down?.body], [503, JSON_ERROR('-')]);
  assert.deepEqual([refused?.status, refused?.body], [401, 'who?\nyou']);
  assert.equal(refused?.headers['www-authenticate'], 'Bearer');
  assert.equal(refused?.headers['content-type'], 'text/plain');
  assert.deepEqual([limited?.status, limited?.body], [429, 'slowly']);
  assert.deepEqual([nowhere?.status, nowhere?.body], [404, 'module']);
  for (const answer of [down, refused, limited]) if (answer) isClean(answer);
});

test('a query cannot write a header, nor a request that is refused', async () => {
  const split = await ask('/shop/whole/502?q=a%0d%0ax-evil:%20b');
  assert.deepEqual([split.body, split.headers['x-evil']], ['kind own -', undefined]);
  const upgrade = await ask('/shop/whole/200', { connection: 'upgrade', upgrade: 'websocket' });
  assert.deepEqual([upgrade.status, upgrade.body], [403, 'no websocket']);
  for (const answer of [split, upgrade]) isClean(answer);
});

test('HEAD has the headers of a GET and no body', async () => {
  for (const path of ['/shop/whole/404', '/shop/parts/404', '/down/x']) {
    const [get, head] = [await ask(path), await ask(path, {}, 'HEAD')];
    assert.deepEqual([head.status, head.body], [get.status, '']);
    assert.equal(head.headers['content-type'], get.headers['content-type']);
    assert.equal(head.headers['content-length'], String(get.body.length));
    isClean(head);
  }
});

test('a gRPC call stays gRPC', async () => {
  const { body, headers, status } = await ask(
    '/down/x',
    { 'content-type': 'application/grpc' },
    'POST',
  );
  assert.deepEqual([status, headers['grpc-status'], body], [200, '14', '']);
  const own = await ask('/shop/whole/503', { 'content-type': 'application/grpc+proto' }, 'POST');
  assert.deepEqual([own.status, own.body], [503, 'of the service']);
});

test('what a client says can be no markup, no member of JSON and no part of another body', async () => {
  const evil = `</p><script>'"\\`;
  const { body } = await ask('/shop/whole/404', { 'x-name': evil });
  assert.equal(body, '<p>404 &#60;/p&#62;&#60;script&#62;&#39;&#34;\\ 100%');
  for (const name of [evil, '","status":200,"x":"', '\u00e9\u00ff', '\t', 'x'.repeat(10_000)]) {
    const answer = await ask('/shop/whole/503', { 'x-name': name });
    assert.deepEqual(JSON.parse(answer.body), {
      error: 'away',
      status: 503,
      name: name.trim() || '-',
    });
  }
});

test('an error of unknown length that is longer than a buffer is replaced as it passes', async () => {
  const head = 'HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n';
  const unsaid = createTcpServer(socket => {
    socket.on('error', () => {}).once('data', () => socket.end(head + 'x'.repeat(300_000)));
  });
  await once(unsaid.listen(0, '127.0.0.1'), 'listening');
  const port = (unsaid.address() as AddressInfo).port;
  const other = await startCompiled(
    document('Mapping', 'unsaid', `prefix: /, service: '127.0.0.1:${port}', ${OVERRIDES}`),
  );
  try {
    const answer = await other.ask('/x');
    assert.deepEqual([answer.status, answer.body], [404, '<p>404 - 100%']);
    isClean(answer);
  } finally {
    unsaid.close();
    await other.stop();
  }
});

test('an error that never ends has its body at once', async () => {
  const endless = createServer((_request, response) => response.writeHead(503).write('first'));
  await once(endless.listen(0, '127.0.0.1'), 'listening');
  const port = (endless.address() as AddressInfo).port;
  const other = await startCompiled(
    document('Mapping', 'endless', `prefix: /, service: '127.0.0.1:${port}', ${OVERRIDES}`),
  );
  try {
    const response = await fetch(`http://127.0.0.1:${other.port}/`);
    const { value } = (await response.body?.getReader().read()) ?? {};
    assert.equal(Buffer.from(value ?? []).toString(), JSON_ERROR('-'));
  } finally {
    endless.closeAllConnections();
    endless.close();
    await other.stop();
  }
});

test('the filter has said nothing in the log', () => {
  assert.doesNotMatch(envoy.log(), /\[lua\]|script log/);
});
