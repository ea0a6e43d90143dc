import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Ask } from '#controlplane/compile/e2e/compiled-envoy.ts';
import { chancesOf } from '#controlplane/compile/testing/seeded-pick.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { openStoreKey } from '#ext-authz/store/store-key.ts';
import { webClient } from '../testing/oidc-clients.ts';
import { type OidcProvider, startOidcProvider } from '../testing/oidc-provider.ts';
import { edgeSession } from './edge-session.ts';
import { type GuardedEnvoy, give, startGuarded } from './guarded-envoy.ts';
import { openKit } from './open-kit.ts';
import { openStore } from './open-store.ts';

const SECRET = 's'.repeat(40);
const HOST = 'site.test';
const ORIGIN = `http://${HOST}`;
const USERS = ['alice', 'bob'].map(username => ({ username, password: 'wonder land' }));
const folder = mkdtempSync(join(tmpdir(), 'ext-authz-'));

let upstream: Server;
let provider: OidcProvider;
let store: RecordStore;
/** The same gateway three times, over one store. One decides every request. */
let cached: GuardedEnvoy;
let asking: GuardedEnvoy;
let brief: GuardedEnvoy;
let sessions: readonly string[];
let reading: string;

before(async () => {
  upstream = createServer(({ method, rawHeaders, url }, response) =>
    response.end(JSON.stringify([method, url, ...rawHeaders])),
  );
  await new Promise<void>(resolve => upstream.listen(0, '127.0.0.1', resolve));
  const client = { client_id: 'web', client_secret: SECRET };
  provider = await startOidcProvider({
    clients: [webClient(client, [`${ORIGIN}/.gateway/oauth2/redirection-endpoint`])],
    jwtClients: [client.client_id],
    users: USERS,
  });
  store = await openStore(folder);
  const key = openStoreKey(folder, randomBytes);
  const operators = openKit(store, key);
  endSessions = user => operators.endSessions('default/login', user);
  const start = (more: string, kit = openKit(store, key)) => startGuarded(resources(more), kit);
  [cached, asking, brief] = await Promise.all([
    start('decisionCache: 60s,'),
    start('', operators),
    start('decisionCache: 1s,'),
  ]);
  sessions = await Promise.all(USERS.map(user => newSession(user)));
  reading = await newSession(USERS[0], '/read/');
});

after(async () => {
  await Promise.all([cached.stop(), asking.stop(), brief.stop()]);
  await store.close();
  await provider.close();
  await new Promise(resolve => upstream.close(resolve));
  rmSync(folder, { recursive: true });
});

let endSessions: (user: string) => Promise<unknown>;

const newSession = (user = USERS[0], path = '/app/') =>
  edgeSession(`http://127.0.0.1:${asking.port}`, path, user ?? assert.fail(), HOST);

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

function resources(more: string): string {
  const { port } = upstream.address() as AddressInfo;
  const mapping = (name: string, rest = '') =>
    document(
      'Mapping',
      name.replace('/', '-'),
      `{host: ${HOST}, prefix: /${name}/, rewrite: '', service: '127.0.0.1:${port}'${rest}}`,
    );
  return [
    document(
      'Filter',
      'login',
      `{OAuth2: {${more} authorizationURL: '${provider.issuer}', clientID: web, secretName: web, protectedOrigins: [{origin: '${ORIGIN}'}],
        accessTokenJWTFilter: {name: tokens},
        injectRequestHeaders: [{name: X-User, value: '{{ .idToken.Claims.sub }}'}]}}`,
    ),
    document(
      'Filter',
      'reading',
      `{OAuth2: {${more} authorizationURL: '${provider.issuer}', clientID: web, secretName: web, protectedOrigins: [{origin: '${ORIGIN}'}],
        injectRequestHeaders: [{name: X-Seen, value: '{{ .httpRequestHeader.Get "x-name" }}'}]}}`,
    ),
    document(
      'Filter',
      'tokens',
      `{JWT: {jwksURI: '${provider.issuer}/jwks', injectRequestHeaders: [{name: X-Client, value: '{{ .token.Claims.client_id }}'},
        {name: X-Role, value: '{{ if hasKey .token.Claims "role" }}{{ .token.Claims.role }}{{ else }}{{ doNotSet }}{{ end }}'}]}}`,
    ),
    `---\napiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {oauth2-client-secret: ${SECRET}}\n`,
    document(
      'FilterPolicy',
      'site',
      `{rules: [{path: /app/open/*}, {path: /part/a*, filters: [{name: login}]},
        {path: /when/*, filters: [{name: login, ifRequestHeader: {name: x-name}}]},
        {path: /read/*, filters: [{name: reading}]},
        {path: '*', filters: [{name: login}]}]}`,
    ),
    mapping('app'),
    mapping('app/open'),
    mapping('shop', ", add_request_headers: {x-shop: '1'}"),
    mapping('part'),
    mapping('when'),
    mapping('read'),
    mapping('free', ', bypass_auth: true'),
  ].join('');
}

type Got = { readonly status: number; readonly told: unknown };

async function got(from: GuardedEnvoy, path: string, asked: Ask): Promise<Got> {
  const { body, headers, status } = await from.ask(path, asked);
  if (!body.startsWith('['))
    return { status, told: [headers['set-cookie']?.length, body === '' ? '' : status] };
  const sent = JSON.parse(body) as string[];
  return { status, told: [sent.toSpliced(sent.indexOf('x-request-id'), 2), headers['set-cookie']] };
}

async function checksOf({ service }: GuardedEnvoy): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${service.port}/metrics`)).text();
  const counts = text.matchAll(/^gateway_ext_authz_checks_total\{[^}]*\} (\d+)/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Returns how many of these requests were decided. */
async function checked(of: GuardedEnvoy, run: () => Promise<unknown>): Promise<number> {
  const before = await checksOf(of);
  await run();
  return (await checksOf(of)) - before;
}

const asUser = (cookie: string | string[], more: Ask['headers'] = {}): Ask => ({
  host: HOST,
  headers: { cookie, ...more },
});

test('the second request of a session is not asked about', async () => {
  const asked = asUser(sessions[0] ?? '');
  const count = await checked(cached, async () => {
    const [first, second] = [
      await got(cached, '/shop/1', asked),
      await got(cached, '/shop/1', asked),
    ];
    assert.deepEqual([first.status, second], [200, first]);
  });
  assert.equal(count, 1);
});

test('nor is one whose path is beside those of other rules', async () => {
  const asked = asUser(sessions[0] ?? '');
  await got(cached, '/part/b', asked);
  assert.equal(await checked(cached, () => got(cached, '/part/c?x=1', asked)), 0);
});

const LONG = `pad=${'p'.repeat(9_000)}`;

/** Requests about which the service is asked each time. */
const ASKED: Readonly<Record<string, (cookie: string) => readonly [path: string, ask: Ask]>> = {
  'without a session': () => ['/shop/1', { host: HOST }],
  'with an empty Cookie field': () => ['/shop/1', asUser('')],
  'with two sessions': cookie => ['/shop/1', asUser(`${cookie}; ${sessions[1]}`)],
  'with a session cut short': cookie => ['/shop/1', asUser(cookie.slice(0, 60))],
  'with a very long Cookie field': cookie => ['/shop/1', asUser(`${LONG}; ${cookie}`)],
  'with credentials': cookie => ['/shop/1', asUser(cookie, { 'X-Gateway-Username': 'root' })],
  'with a path of two readings': cookie => ['/shop/a;b/c', asUser(cookie)],
  'with an escaped path': cookie => ['/shop/%2e%2e;/', asUser(cookie)],
  'with an unusual method': cookie => ['/shop/1', { ...asUser(cookie), method: 'PURGE' }],
  'for a path with a rule of its own': cookie => ['/part/a', asUser(cookie)],
  'of a rule with a condition': cookie => ['/when/a', asUser(cookie, { 'x-name': 'a' })],
  'of a Filter that reads the request': () => ['/read/a', asUser(reading, { 'x-name': 'a' })],
  'of the gateway itself': cookie => ['/.gateway/oauth2/x', asUser(cookie)],
};

for (const [what, askOf] of Object.entries(ASKED))
  test(`a request ${what} is decided each time`, async () => {
    const [path, asked] = askOf(sessions[0] ?? '');
    await got(cached, '/shop/1', asUser(sessions[0] ?? ''));
    const wanted = await got(asking, path, asked);
    const count = await checked(cached, async () => {
      for (const _ of [1, 2]) assert.deepEqual(await got(cached, path, asked), wanted);
    });
    assert.equal(count, 2);
  });

/** Sends each Cookie field on a line of its own. Node joins the values of an array. */
async function statusOf(of: GuardedEnvoy, cookies: readonly string[]): Promise<number> {
  const headers = ['host', HOST, ...cookies.flatMap(cookie => ['cookie', cookie])];
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request({ port: of.port, path: '/shop/1', headers }, resolve).on('error', reject).end();
  const answer = await promise;
  answer.resume();
  return answer.statusCode ?? 0;
}

test('a request with several Cookie fields is decided each time', async () => {
  const [cookie = ''] = sessions;
  assert.equal(await checked(cached, () => statusOf(cached, [cookie])), 0);
  for (const more of ['a=1', cookie, '']) {
    const statuses: number[] = [];
    const count = await checked(cached, async () => {
      for (const _ of [1, 2]) statuses.push(await statusOf(cached, [cookie, more]));
    });
    assert.deepEqual([statuses, count], [[200, 200], 2]);
  }
});

const PATHS = [
  '/shop/',
  '/part/b',
  '/shop/a?b=/app/open/',
  '/app/x',
  '/app/open/a',
  '/free/a',
  '/part/a',
];
const MORE_PATHS = [
  '/when/a',
  '/read/b',
  '/shop/../app/x',
  '/shop/%61',
  '/shop/a;b',
  '/shop/caf%C3%A9',
];
const FIELDS: readonly (readonly [string, string | string[]])[] = [
  ['x-user', 'root'],
  ['X-USER', ['root', 'admin']],
  ['x-seen', 'root'],
  ['x-role', 'root'],
  ['authorization', 'Basic eDp5'],
  ['Authorization', ['Bearer x', 'Bearer y']],
  ['authorization', ''],
  ['x-gateway-client-id', 'web'],
  ['x-name', ['J\u00fcrgen', 'b']],
  ['x-forwarded-for', '192.0.2.9'],
  ['content-type', 'application/grpc'],
  ['upgrade-insecure-requests', '1'],
  ['x-shop', '2'],
];

test('with and without it an upstream gets the same bytes, and clients the same answers', async () => {
  const { chance, pick } = chancesOf(11);
  const seen = { passed: 0, answered: 0 };
  const cookies = [
    ...sessions,
    ...sessions.map(cookie => `a=1; ${cookie};b=2`),
    ...sessions.map(cookie => cookie.replaceAll('; ', ';')),
    `${sessions[0]}; c=caf\u00e9`,
    (sessions[0] ?? '').replace('gateway_session', 'Gateway_session'),
    'gateway_session.login.default=x',
    `${sessions[0]}; gateway_xsrf.login.default=planted`,
    sessions,
  ] as const;
  const count = await checked(cached, async () => {
    for (let round = 0; round < 400; round++) {
      const path = pick([...PATHS, ...MORE_PATHS]);
      const fields = chance(0.4) ? [pick(FIELDS), pick(FIELDS)] : [];
      const cookie = pick(cookies);
      const asked: Ask = {
        host: chance(0.9) ? HOST : pick(['SITE.test', 'site.test:80', 'site.test:8080', 'x.test']),
        method: pick(['GET', 'GET', 'POST', 'DELETE']),
        headers: {
          ...Object.fromEntries(fields),
          cookie: typeof cookie === 'string' ? cookie : [...cookie],
        },
      };
      const [own, wanted] = [await got(cached, path, asked), await got(asking, path, asked)];
      assertAlike(own, wanted, `${path} ${JSON.stringify(asked)}`);
      seen[own.status === 200 ? 'passed' : 'answered'] += 1;
    }
  });
  assert.ok(Math.min(seen.passed, seen.answered) > 40, JSON.stringify(seen));
  assert.ok(count < 330, `${count} checks of 400`);
});

/** A second may pass between the two answers, and a cookie of the later one ends as much sooner. */
function assertAlike(own: Got, wanted: Got, of: string): void {
  const [left, leftWanted] = [own, wanted].map(each =>
    [...JSON.stringify(each).matchAll(AGE)].map(([, seconds]) => Number(seconds)),
  );
  const late = left?.findIndex((seconds, at) => Math.abs(seconds - (leftWanted?.[at] ?? 0)) > 2);
  assert.equal(late, -1, of);
  const [one, other] = [own, wanted].map(each =>
    JSON.parse(JSON.stringify(each).replaceAll(AGE, 'Max-Age=later')),
  );
  assert.deepEqual(one, other, of);
}

/** `Max-Age=0` takes a cookie away, and is compared as it is. */
const AGE = /Max-Age=([1-9]\d*)/g;

test('one user never gets what was decided for another', async () => {
  const names = async (cookie: string) =>
    JSON.stringify(await got(cached, '/shop/1', asUser(cookie)));
  for (const _ of [1, 2])
    for (const [index, { username }] of USERS.entries())
      assert.match(await names(sessions[index] ?? ''), new RegExp(`"x-user","${username}"`));
});

for (const path of ['/shop/1', '/app/open/a', '/free/a'])
  test(`no client sets on ${path} what the Filter of its access tokens sets`, async () => {
    const [cookie = ''] = sessions;
    await got(cached, path, asUser(cookie));
    const forged = { 'x-client': 'eve', 'x-role': 'root' };
    const { status, told } = await got(cached, path, asUser(cookie, forged));
    assert.equal(status, 200);
    const names = JSON.stringify(told).toLowerCase();
    assert.deepEqual([names.includes('"eve"'), names.includes('x-role')], [false, false]);
  });

/** Resolves when the session no longer passes. */
async function ended(cookie: string): Promise<void> {
  while ((await got(brief, '/shop/1', asUser(cookie))).status === 200);
}

test('a logout counts within the time', async () => {
  const cookie = await newSession();
  assert.equal((await got(brief, '/shop/1', asUser(cookie))).status, 200);
  const xsrf = /gateway_xsrf\.login\.default=([^;]*)/.exec(cookie)?.[1] ?? '';
  const left = await asking.ask('/.gateway/oauth2/logout', {
    host: HOST,
    method: 'POST',
    headers: { cookie, 'content-type': 'application/x-www-form-urlencoded', origin: ORIGIN },
    body: `realm=login.default&_xsrf=${xsrf}`,
  });
  assert.equal(left.status, 303);
  await ended(cookie);
});

test('a session that an operator ends counts within the time', async () => {
  const cookie = await newSession(USERS[1]);
  assert.equal((await got(brief, '/shop/1', asUser(cookie))).status, 200);
  await endSessions('bob');
  await ended(cookie);
});

test('no cookie and no token is in the log, the statistics and the configuration of Envoy', async () => {
  const { body } = await cached.ask('/shop/1', asUser(sessions[0] ?? ''));
  const token = /Bearer ([^"]+)/.exec(body)?.[1] ?? assert.fail();
  const id = /gateway_session[^=]*=([^;]+)/.exec(sessions[0] ?? '')?.[1] ?? assert.fail();
  const shown = [cached.log(), await cached.get('/stats'), await cached.get('/config_dump')];
  for (const text of shown) for (const secret of [token, id]) assert.ok(!text.includes(secret));
  assert.match(shown[1] ?? '', /http\.edge\.ext_authz\.disabled: [1-9]/);
  assert.match(shown[1] ?? '', /lua\.errors: 0/);
  assert.doesNotMatch(shown[1] ?? '', /lua\.errors: [1-9]/);
});

test('a proxy that has not received a change of policies yet remembers no decision', async () => {
  const cookie = await newSession();
  give(cached.service, resources('decisionCache: 60s,').replace('/app/open/*', '/shop/open/*'));
  const count = await checked(cached, async () => {
    for (const _ of [1, 2, 3])
      assert.equal((await got(cached, '/shop/1', asUser(cookie))).status, 200);
  });
  assert.equal(count, 3);
});
