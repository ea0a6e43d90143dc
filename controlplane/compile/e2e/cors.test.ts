import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { type AuthorizationStub, startAuthorizationStub } from './authorization-stub.ts';
import { type CompiledEnvoy, type EnvoyAnswer, startCompiled } from './compiled-envoy.ts';
import { type RateLimitStub, startRateLimitStub } from './rate-limit-stub.ts';

const SHOP = 'https://shop.example.com';
const OTHER = 'https://evil.example';

/** A service with a CORS policy of its own. */
const service = createServer((_request, response) => {
  asked += 1;
  response.setHeader('access-control-allow-origin', 'https://own.example');
  response.setHeader('access-control-allow-credentials', 'true');
  response.setHeader('vary', 'Accept').end('served');
});
let asked = 0;
let limits: RateLimitStub;
let filters: AuthorizationStub;
let envoy: CompiledEnvoy;

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: getambassador.io/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

const resources = (port: number, limits: string) => {
  const mapping = (name: string, fields: string) =>
    document('Mapping', name, `{service: '127.0.0.1:${port}', ${fields}}`);
  return [
    mapping(
      'listed',
      `prefix: /listed/, cors: {origins: '${SHOP}, https://*.example.org', methods: 'PUT', headers: 'X-Token',
        credentials: true, exposed_headers: 'X-Total', max_age: 600}`,
    ),
    mapping('any', `prefix: /any/, cors: {origins: '*', credentials: true}`),
    mapping('refused', `prefix: /refused/, cors: {origins: '*'}`),
    mapping(
      'limited',
      `prefix: /limited/, cors: {origins: '*'}, labels: {gateway: [{g: [limited]}]}`,
    ),
    mapping('without', 'prefix: /without/'),
    mapping('all', `prefix: /, cors: {origins: '*'}`),
    document('RateLimitService', 'stub', `{service: '${limits}', timeout_ms: 2000}`),
    document(
      'Filter',
      'login',
      `{OAuth2: {authorizationURL: 'https://idp.example', clientID: web, secret: s, protectedOrigins: [{origin: 'http://localhost'}]}}`,
    ),
    document('FilterPolicy', 'all', '{rules: [{filters: [{name: login}]}]}'),
  ].join('');
};

before(async () => {
  [limits, filters] = await Promise.all([
    startRateLimitStub(),
    startAuthorizationStub('/refused/'),
  ]);
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const { port } = service.address() as AddressInfo;
  envoy = await startCompiled(resources(port, limits.address), 'edge', undefined, filters.address);
});

after(async () => {
  await envoy.stop();
  service.closeAllConnections();
  service.close();
  await Promise.all([limits.stop(), filters.stop()]);
});

beforeEach(() => {
  asked = 0;
  filters.asked();
  limits.asked();
  limits.answer({ overall_code: 1 });
});

const get = (path: string, origin: string) => envoy.ask(path, { headers: { origin } });

const preflight = (path: string, origin: string) =>
  envoy.ask(path, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'PUT' },
  });

/** Returns the CORS headers of an answer, without the common beginning of the names. */
function corsOf({ headers }: EnvoyAnswer): object {
  const entries = Object.entries(headers).filter(([name]) => name.startsWith('access-control-'));
  return Object.fromEntries(
    entries.map(([name, value]) => [name.slice('access-control-'.length), value]),
  );
}

test('a preflight of a listed origin is answered by the gateway alone, whatever Filters and limits there are', async () => {
  const answer = await preflight('/listed/x', SHOP);
  assert.equal(answer.status, 200);
  assert.deepEqual(corsOf(answer), {
    'allow-origin': SHOP,
    'allow-credentials': 'true',
    'allow-methods': 'PUT',
    'allow-headers': 'X-Token',
    'expose-headers': 'X-Total',
    'max-age': '600',
  });
  assert.equal((await preflight('/refused/x', SHOP)).status, 200);
  assert.equal((await preflight('/limited/x', SHOP)).status, 200);
  assert.deepEqual([asked, filters.asked(), limits.asked()], [0, [], []]);
});

test('a preflight of another origin is told no origin, and nobody else hears of it', async () => {
  const answer = await preflight('/listed/x', OTHER);
  assert.equal(answer.headers['access-control-allow-origin'], undefined);
  assert.deepEqual([asked, filters.asked()], [0, []]);
});

test('an answer to a listed origin says what it may, and the service has no say in it', async () => {
  const answer = await get('/listed/x', SHOP);
  assert.equal(answer.body, 'served');
  assert.deepEqual(corsOf(answer), {
    'allow-origin': SHOP,
    'allow-credentials': 'true',
    'expose-headers': 'X-Total',
  });
  assert.match(String(answer.headers.vary), /Accept.*Origin/s);
});

test('an answer to another origin, or to none, says nothing, and caches know that it differs', async () => {
  const answer = await get('/listed/x', OTHER);
  assert.equal(answer.body, 'served');
  assert.deepEqual(corsOf(answer), {});
  const plain = await envoy.ask('/listed/x');
  assert.deepEqual(corsOf(plain), {});
  assert.match(String(plain.headers.vary), /Origin/);
});

test('an origin is compared whole', async () => {
  for (const origin of ['https://a.example.org', 'https://a.b.example.org'])
    assert.equal(Reflect.get(corsOf(await get('/listed/x', origin)), 'allow-origin'), origin);
  for (const origin of [
    'https://example.org',
    'http://a.example.org',
    'https://a.example.org:8443',
    'https://a.example.org.evil.example',
    'https://evil.example/.example.org',
    `${SHOP}:8443`,
    'null',
  ])
    assert.deepEqual(corsOf(await get('/listed/x', origin)), {}, origin);
});

test('with the origin * no credentials count, neither at the word of the Mapping nor of the service', async () => {
  assert.deepEqual(corsOf(await get('/any/x', OTHER)), { 'allow-origin': OTHER });
});

test('what a Filter or a limit refuses can be read by the page that asked', async () => {
  const refused = await get('/refused/x', SHOP);
  assert.deepEqual([refused.status, corsOf(refused)], [401, { 'allow-origin': SHOP }]);
  limits.answer({ overall_code: 2 });
  const limited = await get('/limited/x', SHOP);
  assert.deepEqual([limited.status, corsOf(limited)], [429, { 'allow-origin': SHOP }]);
});

test('without `cors` Filters and the service get preflights, and the service speaks for itself', async () => {
  const answer = await preflight('/without/x', OTHER);
  assert.deepEqual(corsOf(answer), {
    'allow-origin': 'https://own.example',
    'allow-credentials': 'true',
  });
  assert.deepEqual([asked, filters.asked()], [1, ['/without/x']]);
});

test("a logout's CORS is the Filter's, under a Mapping of every path too", async () => {
  const logout = '/.gateway/oauth2/logout';
  const answer = await preflight(logout, OTHER);
  assert.deepEqual(corsOf(answer), {});
  assert.deepEqual(filters.asked(), [logout]);
});
