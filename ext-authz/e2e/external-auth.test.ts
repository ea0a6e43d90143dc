import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LastAsked, startGrpcAuth, startHttpAuth } from './external-auth-servers.ts';
import { bearer, filterRef, guardedGateway, jwt, site } from './guarded-gateway.ts';

const listener = (name: string, ...filters: readonly string[]) =>
  `{name: ${name}, port: 8000, protocol: HTTP, hostname: ${name}.test, filters: {requests: [${filters.join()}]}}`;
const grpc = (settings = '', more = '', name = 'grpc-auth') =>
  `{type: ExternalAuth, externalAuth: {protocol: GRPC, grpc: {${settings}}, ${more} backendRef: {name: ${name}, port: 80}}}`;
const http = (settings = '', more = '', name = 'http-auth') =>
  `{type: ExternalAuth, externalAuth: {protocol: HTTP, http: {${settings}}, ${more} backendRef: {name: ${name}, port: 80}}}`;

const rule = (name: string, header: string) =>
  `{matches: [{headers: [${header}]}], filters: [{type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: x-route, value: ${name}}]}}], backendRefs: [{name: up, port: 80}]}`;

const RESOURCES = [
  jwt('user'),
  site(
    [
      '{name: open, port: 8000, protocol: HTTP}',
      listener('grpc', grpc()),
      listener('some', grpc('allowedHeaders: [X-Answer]')),
      listener('body', grpc('', 'forwardBody: {maxSize: 16},')),
      listener('down', grpc('', '', 'down')),
      listener('first', grpc(), filterRef('user')),
      listener('last', filterRef('user'), grpc()),
      listener('between', filterRef('user'), http(), filterRef('user')),
      listener('http', http()),
      listener(
        'named',
        http('path: auth/, allowedHeaders: [x-answer], allowedResponseHeaders: [X-Tenant]'),
      ),
      listener('http-body', http('', 'forwardBody: {maxSize: 16},')),
      listener('http-down', http('', '', 'down')),
    ],
    [rule('gold', '{name: x-tenant, value: gold}'), rule('other', '')],
  ),
].join('');

let servers: { readonly [name in 'grpc' | 'http']: Awaited<ReturnType<typeof startHttpAuth>> };

const gateway = guardedGateway(RESOURCES, async () => {
  servers = { grpc: await startGrpcAuth(), http: await startHttpAuth() };
  const down = { address: '127.0.0.1:1', close: async () => {} };
  return { 'grpc-auth': servers.grpc, 'http-auth': servers.http, down };
});

type Sent = Readonly<Record<string, string>>;

/** Returns the status, and the rule that served the request. */
async function asked(name: string, headers: Sent = {}, body?: string) {
  const method = body === undefined ? 'GET' : 'POST';
  const more = body === undefined ? {} : { body };
  const path = `/a?answer=${headers['x-answer'] ?? ''}`;
  const answer = await gateway.ask(path, { host: `${name}.test`, method, headers, ...more });
  return { ...answer, route: answer.headers['x-route'] };
}

for (const name of ['grpc', 'some', 'http', 'named'] as const) {
  test(`${name}: what the service sets chooses the route`, async () => {
    assert.equal((await asked(name, { 'x-answer': 'gold' })).route, 'gold');
    assert.equal((await asked(name, { 'x-answer': 'iron' })).route, 'other');
    assert.equal((await asked(name, { 'x-answer': 'iron', 'x-tenant': 'gold' })).route, 'other');
  });

  test(`${name}: what the service denies goes nowhere`, async () => {
    const { body, route, status } = await asked(name, { 'x-answer': 'deny' });
    assert.deepEqual([status, body, route], [403, 'denied', undefined]);
  });
}

test('a header that only the service may set chooses no route when a client sends it', async () => {
  const headers = { 'x-answer': 'plain', 'x-tenant': 'gold' };
  assert.equal((await asked('named', headers)).route, 'other');
  assert.equal((await asked('open', headers)).route, 'gold');
});

for (const name of ['down', 'http-down']) {
  test(`${name}: a service that is down closes the listener`, async () => {
    assert.equal((await asked(name)).status, 503);
    assert.equal((await asked('open')).status, 200);
  });
}

test('a service over HTTP that fails closes the listener, and only 200 lets pass', async () => {
  assert.equal((await asked('http', { 'x-answer': 'fail' })).status, 503);
  const { route, status } = await asked('http', { 'x-answer': 'created' });
  assert.deepEqual([status, route], [201, undefined]);
});

test('no service changes host, path or length, or what only the gateway says', async () => {
  const { body } = await asked('grpc', { 'x-answer': 'gold' }, 'abc');
  const { headers, path } = JSON.parse(body) as LastAsked;
  assert.deepEqual(
    [path, headers.host, headers['content-length'], headers['x-gateway-tls-host']],
    ['/a?answer=gold', 'grpc.test', '3', undefined],
  );
});

test('over HTTP all headers of the answer go on, but those about the answer itself', async () => {
  const sent = { 'x-answer': 'iron', 'content-type': 'text/plain' };
  const { headers } = JSON.parse((await asked('http', sent, 'abc')).body) as LastAsked;
  assert.deepEqual(
    [headers['x-more'], headers['content-type'], headers['content-length'], headers.host],
    ['more', 'text/plain', '3', 'http.test'],
  );
  const named = JSON.parse((await asked('named', sent)).body) as LastAsked;
  assert.deepEqual([named.headers['x-more'], named.headers['x-tenant']], [undefined, 'iron']);
});

const SENT = { 'x-answer': 'plain', 'x-a': 'a', authorization: 'Basic YTpi' };

test('a service of Envoy’s protocol gets all headers, or those that are allowed', async () => {
  await asked('grpc', SENT);
  assert.equal(servers.grpc.last().headers['x-a'], 'a');
  await asked('some', SENT);
  assert.deepEqual(Object.keys(servers.grpc.last().headers), ['x-answer']);
});

test('a service over HTTP gets the usual headers and those that are allowed', async () => {
  await asked('http', SENT);
  const { headers, path } = servers.http.last();
  assert.deepEqual(
    [path, headers.host, headers.authorization, headers['content-length'], headers['x-a']],
    ['/a?answer=plain', 'http.test', SENT.authorization, '0', undefined],
  );
  await asked('named', SENT);
  assert.deepEqual(
    [servers.http.last().path, servers.http.last().headers['x-answer']],
    ['/auth/a?answer=plain', 'plain'],
  );
});

for (const [name, server] of [
  ['body', 'grpc'],
  ['http-body', 'http'],
] as const) {
  test(`${name}: the service gets the body, and one that is too long goes nowhere`, async () => {
    assert.equal((await asked(name, { 'x-answer': 'plain' }, 'sixteen letters.')).status, 200);
    assert.equal(servers[server].last().body, 'sixteen letters.');
    assert.equal((await asked(name, { 'x-answer': 'plain' }, 'seventeen letters')).status, 413);
  });
}

test('without forwardBody the service gets none', async () => {
  await asked('grpc', { 'x-answer': 'plain' }, 'abc');
  assert.equal(servers.grpc.last().body, '');
  await asked('http', { 'x-answer': 'plain' }, 'abc');
  assert.equal(servers.http.last().body, '');
});

test('filters run in their order, and one that answers ends it', async () => {
  assert.equal((await asked('first', { 'x-answer': 'deny' })).status, 403);
  assert.equal((await asked('first', { 'x-answer': 'gold' })).status, 401);
  assert.equal((await asked('last', { 'x-answer': 'deny' })).status, 401);
  const ada = bearer({ sub: 'ada' });
  assert.equal((await asked('last', { 'x-answer': 'gold', ...ada })).route, 'gold');
  assert.equal(servers.grpc.last().headers['x-user'], 'ada');
  await asked('first', { 'x-answer': 'gold', 'x-user': 'root', ...ada });
  assert.equal(servers.grpc.last().headers['x-user'], undefined);
  assert.equal((await asked('between', { 'x-answer': 'gold', ...ada })).route, 'gold');
});
