import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { startEchoServer } from '#controlplane/compile/e2e/echo-server.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { openSession } from '#grpc/unary/testing/http2-client.ts';
import { allowed, denying, scriptedKit } from '../testing/scripted-kit.ts';
import { type GuardedEnvoy, startGuarded } from './guarded-envoy.ts';

let upstream: Awaited<ReturnType<typeof startEchoServer>>;
let envoy: GuardedEnvoy;
let seen: HttpRequest | undefined;

before(async () => {
  upstream = await startEchoServer('up');
  envoy = await startGuarded(resources(upstream.address), kit());
});

after(async () => {
  await envoy.stop();
  await upstream.close();
});

function kit() {
  return scriptedKit({
    'default/login': request => {
      seen = request;
      return allowed({ authorization: 'Bearer access', 'x-user': 'alice' });
    },
    'default/tokens': request => {
      const bytes = Number(request.headers.get('x-token-bytes')?.[0] ?? 1);
      const more = Number(request.headers.get('x-more-fields')?.[0] ?? 0);
      const fields = Array.from({ length: more }, (_, n) => [`x-more-${n}`, 'v']);
      return allowed({
        'x-user': 'from-token',
        token: 't'.repeat(bytes),
        ...Object.fromEntries(fields),
      });
    },
    'default/refuses': denying(418, [
      ['set-cookie', 'a=1; Path=/'],
      ['set-cookie', 'b=2; Path=/'],
    ]),
    'default/redirects': denying(303, [
      ['location', 'https://idp.example.com/'],
      ['set-cookie', 'a=1'],
    ]),
    'default/renews': () => ({
      kind: 'allow',
      change: {
        set: new Map(),
        remove: new Set(['x-gone']),
        responseHeaders: [
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
        ],
      },
    }),
  });
}

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

const jwt = (name: string) =>
  document(
    'Filter',
    name,
    `{JWT: {jwksURI: 'https://idp.example.com/keys', injectRequestHeaders: [{name: X-User, value: a}]}}`,
  );

function resources(service: string): string {
  const names = ['tokens', 'refuses', 'redirects', 'renews', 'unscripted'];
  return [
    document(
      'Filter',
      'login',
      `{OAuth2: {authorizationURL: 'https://idp.example.com', clientID: a, secret: s, protectedOrigins: [{origin: 'http://site.test'}],
        injectRequestHeaders: [{name: X-User, value: a}]}}`,
    ),
    ...names.map(jwt),
    document(
      'FilterPolicy',
      'site',
      `{rules: [{host: site.test, path: /login/*, filters: [{name: login}]},
        ${names.map(name => `{host: site.test, path: /${name}/*, filters: [{name: ${name}}]}`).join(', ')},
        {host: site.test, path: /nowhere/*, filters: [{name: nowhere}]}, {host: site.test, path: /ruled-open/*}]}`,
    ),
    ...['site.test', 'free.test'].map(host =>
      document(
        'Mapping',
        host,
        `{host: ${host}, prefix: /, rewrite: '', service: '${service}', add_response_headers: {cache-control: public}}`,
      ),
    ),
    document(
      'Mapping',
      'bypass',
      `{host: site.test, prefix: /login/open/, rewrite: '', service: '${service}', bypass_auth: true}`,
    ),
  ].join('');
}

const SITE = { host: 'site.test' };

test('a filter sees the request as it came: raw headers, client address, id', async () => {
  await envoy.ask('/login/a?b=c', {
    ...SITE,
    method: 'PUT',
    headers: { cookie: 'y=\u00e9', 'x-forwarded-for': '198.51.100.7', 'x-name': 'J\u00fcrgen' },
  });
  assert.equal(seen?.method, 'PUT');
  assert.equal(seen?.target, '/login/a?b=c');
  assert.equal(seen?.scheme, 'http');
  assert.equal(seen?.authority, 'site.test');
  assert.equal(seen?.clientAddress, '127.0.0.1');
  assert.match(seen?.id ?? '', /^[0-9a-f-]{36}$/);
  assert.deepEqual(seen?.headers.get('cookie'), ['y=\u00e9']);
  assert.deepEqual(seen?.headers.get('x-name'), ['J\u00fcrgen']);
});

test('behind a trusted proxy the client is the one that it names', async () => {
  const module = document('Module', 'gateway', '{config: {xff_num_trusted_hops: 1}}');
  const behind = await startGuarded(module + resources(upstream.address), kit());
  await behind.ask('/login/', {
    ...SITE,
    headers: { 'x-forwarded-for': '192.0.2.9, 198.51.100.7' },
  });
  assert.equal(seen?.clientAddress, '198.51.100.7');
  await behind.stop();
});

test('two Cookie fields come in apart, and what is left of them goes on as one', async () => {
  const answer = await raw('GET /login/ HTTP/1.1', [
    'cookie: a=1; gateway_session.x.y=1',
    'cookie: b=2',
  ]);
  assert.deepEqual(seen?.headers.get('cookie'), ['a=1; gateway_session.x.y=1', 'b=2']);
  assert.match(answer, /"cookie":"a=1; b=2"/);
});

test('what a filter sets replaces what the client sent, in every spelling', async () => {
  const { headers } = await envoy.echo('/login/', {
    ...SITE,
    headers: {
      'X-USER': ['root', 'root2'],
      authorization: 'Bearer mine',
      Connection: 'x-user, close',
    },
  });
  assert.equal(headers['x-user'], 'alice');
  assert.equal(headers.authorization, 'Bearer access');
});

for (const path of ['/free-of-rules', '/ruled-open/a', '/login/open/a'])
  test(`no client sends on ${path} what only a filter may say`, async () => {
    const sent = { 'X-USER': ['root', 'root2'], 'x-name': 'b', authorization: 'Bearer mine' };
    const { headers } = await envoy.echo(path, { ...SITE, headers: sent });
    assert.equal('x-user' in headers, false);
    assert.equal(headers['x-name'], 'b');
    assert.equal(headers.authorization, 'Bearer mine');
  });

test('no client says in trailers what only a filter may say', async t => {
  const service = createServer().on('stream', stream => {
    stream.resume().on('trailers', trailers => {
      stream.respond();
      stream.end(JSON.stringify(trailers));
    });
  });
  await once(service.listen(0, '127.0.0.1'), 'listening');
  t.after(() => service.close());
  const { port } = service.address() as AddressInfo;
  const calls = document(
    'Mapping',
    'calls',
    `{host: site.test, prefix: '/[a-z]+/calls', prefix_regex: true, precedence: 1, service: '127.0.0.1:${port}', grpc: true}`,
  );
  const guarded = await startGuarded(calls + resources(upstream.address), kit());
  t.after(guarded.stop);
  const session = openSession(t, guarded.port);
  for (const path of ['/login/calls', '/free/calls']) {
    const headers = { ':method': 'POST', ':path': path, ':authority': 'site.test' };
    const stream = session.request(headers, { waitForTrailers: true } as object);
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-user': 'root', 'x-name': 'b' }));
    stream.end('a');
    assert.deepEqual(JSON.parse(await text(stream)), { 'x-name': 'b' }, path);
  }
});

test('a host on which no filter runs keeps what a filter sets elsewhere', async () => {
  const { headers } = await envoy.echo('/', { host: 'free.test', headers: { 'x-user': 'root' } });
  assert.equal(headers['x-user'], 'root');
});

test('a header with an underscore does not come in at all', async () => {
  const { status } = await envoy.ask('/tokens/', { ...SITE, headers: { x_user: 'root' } });
  assert.equal(status, 400);
});

test('cookies of the gateway stay, others go upstream byte for byte', async () => {
  const cookie =
    'a="1;2"; gateway_session.login.default=secret;  b=\u00c3\u00a9=; gateway_xsrf.login.default=x';
  const { headers } = await envoy.echo('/free-of-rules', { ...SITE, headers: { cookie } });
  assert.equal(headers.cookie, 'a="1;2";  b=\u00c3\u00a9=; gateway_xsrf.login.default=x');
  const gone = await envoy.echo('/login/', {
    ...SITE,
    headers: { cookie: 'gateway_pending.x.y=1' },
  });
  assert.equal('cookie' in gone.headers, false);
});

test('a thousand cookies are too many for no part', async () => {
  const pairs = Array.from({ length: 1000 }, (_, n) =>
    n % 2 ? `c${n}=v` : `gateway_session.r${n}.d=v`,
  );
  const { headers } = await envoy.echo('/login/', {
    ...SITE,
    headers: { cookie: pairs.join('; ') },
  });
  assert.equal(headers.cookie, pairs.filter(pair => pair.startsWith('c')).join('; '));
});

/** Node as an upstream refuses large headers too, but in other words than the gateway. */
const isTooLarge = async (headers: Record<string, string>) => {
  const { body, status } = await envoy.ask('/tokens/', { ...SITE, headers });
  assert.ok(status === 200 || status === 431, `${JSON.stringify(headers).slice(0, 80)}: ${status}`);
  return status === 431 && body.includes('With what your login adds');
};

test('headers that filters make too large have a page of ours, before Envoy answers an empty 500', async () => {
  const cookie = `c=${'x'.repeat(20_000)}`;
  for (const bytes of [1, 40_000, 60_900, 61_000])
    assert.equal(await isTooLarge({ 'x-token-bytes': `${bytes}` }), false, `${bytes}`);
  for (let bytes = 61_060; bytes < 61_300; bytes += 20)
    await isTooLarge({ 'x-token-bytes': `${bytes}` });
  for (const bytes of [61_300, 65_536, 200_000])
    assert.equal(await isTooLarge({ 'x-token-bytes': `${bytes}` }), true, `${bytes}`);
  assert.equal(await isTooLarge({ 'x-token-bytes': '40000', cookie }), false);
  assert.equal(await isTooLarge({ 'x-token-bytes': '41300', cookie }), true);
  for (let more = 270; more < 300; more += 1) await isTooLarge({ 'x-more-fields': `${more}` });
  assert.equal(await isTooLarge({ 'x-more-fields': '300' }), true);
});

test('an answer arrives whole, also with a status that few know and two cookies', async () => {
  const { status, headers, body } = await envoy.ask('/refuses/', SITE);
  assert.equal(status, 418);
  assert.deepEqual(headers['set-cookie'], ['a=1; Path=/', 'b=2; Path=/']);
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['cache-control'], 'no-store');
  const { request_id, ...told } = JSON.parse(body);
  assert.match(request_id, /^[0-9a-f-]{36}$/);
  assert.deepEqual(told, { message: 'denied', status_code: 418 });
});

test('a browser is redirected, a gRPC client gets 401', async () => {
  const browser = await envoy.ask('/redirects/', { ...SITE, headers: { accept: 'text/html' } });
  assert.equal(browser.status, 303);
  assert.equal(browser.headers.location, 'https://idp.example.com/');
  const grpc = await envoy.ask('/redirects/', {
    ...SITE,
    method: 'POST',
    headers: { 'content-type': 'application/grpc' },
  });
  assert.equal(grpc.headers['grpc-status'], '16');
  assert.equal(grpc.headers['grpc-message'], 'denied');
  assert.equal('location' in grpc.headers || 'set-cookie' in grpc.headers, false);
});

test('cookies are added to the answer of the upstream, headers are taken from its request', async () => {
  const ask = { ...SITE, headers: { 'x-gone': '1' } };
  const { headers, body } = await envoy.ask('/renews/', ask);
  assert.deepEqual(headers['set-cookie'], ['a=1', 'b=2']);
  assert.equal('x-gone' in JSON.parse(body).headers, false);
});

test('no cache may keep an answer to which cookies are added, whatever the upstream says', async () => {
  const cacheControl = async (path: string) =>
    (await envoy.ask(path, SITE)).headers['cache-control'];
  assert.deepEqual(
    [await cacheControl('/renews/'), await cacheControl('/login/a')],
    ['no-store', 'public'],
  );
});

for (const path of ['/unscripted/', '/nowhere/']) {
  test(`${path}, whose Filter cannot run, is answered 500`, async () => {
    const { status, body } = await envoy.ask(path, SITE);
    assert.equal(status, 500);
    assert.match(body, /"request_id":"[0-9a-f-]{36}"/);
  });
}

for (const [path, status] of [
  ['/x/..;/refuses/', 418],
  ['/x/%2e%2e;/refuses/', 400],
  ['/x/..%3b/refuses/', 400],
  ['/refuses;x/', 400],
  ['/x;y/z', 200],
  ['/refuses%2Fa', 400],
  ['/x/%2e%2e/refuses/', 418],
  ['/%72efuses/', 418],
  ['//refuses//', 418],
  ['/refuses/%00', 400],
  ['/%00/../refuses/', 400],
  ['/REFUSES/', 200],
] as const) {
  test(`${path} is answered ${status}`, async () => {
    assert.equal((await envoy.ask(path, SITE)).status, status);
  });
}

test('a NUL byte in the path is answered 400', async () => {
  assert.match(await raw('GET /refuses/\0 HTTP/1.1', []), /^HTTP\/1\.1 400 /);
});

test('the host is compared without case, port and dot', async () => {
  for (const host of ['SITE.test', 'site.test:8080', 'site.test.', 'site.test.:80'])
    assert.equal((await envoy.ask('/refuses/', { host })).status, 418, host);
});

test('bypass_auth: no filter runs, what filters set is taken away, cookies pass', async () => {
  const headers = {
    'x-user': 'root',
    cookie: 'gateway_session.login.default=1',
    authorization: 'Bearer mine',
  };
  const echo = await envoy.echo('/login/open/', { ...SITE, headers });
  assert.equal('x-user' in echo.headers, false);
  assert.equal(echo.headers.cookie, headers.cookie);
  assert.equal(echo.headers.authorization, 'Bearer mine');
});

test('only a logout brings its body, up to 8,193 bytes', async () => {
  assert.match(
    await post('/.gateway/oauth2/logout', 8192),
    /POST \/\.gateway\/oauth2\/logout 8192/,
  );
  assert.match(await post('/.gateway/oauth2/logout?realm=a', 20_000), / 8193"/);
  assert.match(await post('/.gateway/oauth2/other', 100), /other 0"/);
});

/** The whole answer to a POST with a body. */
function post(path: string, bytes: number): Promise<string> {
  return raw(`POST ${path} HTTP/1.1`, [`content-length: ${bytes}`], 'x'.repeat(bytes));
}

/** The whole answer to a request that is sent exactly so. */
function raw(line: string, fields: readonly string[], body = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect({ port: envoy.port, host: '127.0.0.1' }, () => {
      socket.write(
        [line, 'host: site.test', ...fields, 'connection: close', '', body].join('\r\n'),
      );
    });
    socket.setEncoding('utf8').on('data', data => {
      answer += data;
    });
    socket.on('error', reject).on('close', () => resolve(answer));
  });
}

test('what the gateway answers itself never comes from an upstream', async () => {
  const { status, headers } = await envoy.ask(
    '/.gateway/oauth2/redirection-endpoint?state=1',
    SITE,
  );
  assert.equal(status, 200);
  assert.deepEqual(headers['set-cookie'], ['a=1', 'b=2']);
});

test('with the service down what rules may be for is closed, and all else goes on', async () => {
  const lonely = await startGuarded(resources(upstream.address), kit());
  await lonely.service.stop(0);
  for (const path of ['/login/', '/free-of-rules;a', '/.gateway/oauth2/logout']) {
    const { status, body } = await lonely.ask(path, SITE);
    const { message, request_id, ...told } = JSON.parse(body);
    assert.deepEqual([status, told], [503, { status_code: 503 }]);
    assert.match(message, /cannot be reached/);
    assert.match(request_id, /^[0-9a-f-]{36}$/);
  }
  assert.equal((await lonely.ask('/login/', { host: 'free.test' })).status, 200);
  assert.equal((await lonely.ask('/login/open/', SITE)).status, 200);
  assert.equal((await lonely.ask('/free-of-rules', SITE)).status, 200);
  await lonely.stop();
});
