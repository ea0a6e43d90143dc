import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { startEchoServer } from '#controlplane/compile/e2e/echo-server.ts';
import { type RequestOptions, request } from '#envoy/e2e/request.ts';
import { openRecordStore } from '#ext-authz/store/open-record-store.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { connectRedis } from '#redis/connect.ts';
import { describeRedis, OPTIONS } from '#redis/testing/open-redis.ts';
import { type RedisServer, startRedis, whyNoRedis } from '#redis/testing/redis-server.ts';
import { until } from '#redis/testing/until.ts';
import { logIn } from '../testing/log-in.ts';
import { webClient } from '../testing/oidc-clients.ts';
import { type OidcProvider, startOidcProvider } from '../testing/oidc-provider.ts';
import { cookiesOf, edgeSession } from './edge-session.ts';
import { type GuardedEnvoy, startGuarded } from './guarded-envoy.ts';
import { openKit } from './open-kit.ts';

const SECRET = 's'.repeat(40);
const HOST = 'site.test:8080';
const CALLBACK = `http://${HOST}/.gateway/oauth2/redirection-endpoint`;
const ALICE = { username: 'alice', password: 'wonder land' };
/** How long a store may take. It is long enough for one that shares its machine. */
const TIMEOUT_MS = 1_000;
/** What Envoy gives a check. */
const CHECK_MS = 4_000;

describe('logins whose sessions are in a Redis', { skip: whyNoRedis() ?? false }, () => {
  let server: RedisServer;
  let upstream: Awaited<ReturnType<typeof startEchoServer>>;
  let provider: OidcProvider;
  let store: RecordStore;
  let envoy: GuardedEnvoy;
  let session: string;

  before(async () => {
    [server, upstream] = await Promise.all([startRedis(), startEchoServer('up')]);
    const client = webClient({ client_id: 'web', client_secret: SECRET }, [CALLBACK]);
    provider = await startOidcProvider({ clients: [client], users: [ALICE] });
    store = await openStore(server);
    envoy = await startGuarded(
      resources(provider.issuer, upstream.address),
      openKit(store, createSecretKey(randomBytes(32))),
    );
  });
  after(async () => {
    await envoy?.stop();
    await store?.close();
    await provider?.close();
    await upstream?.close();
    await server?.remove();
  });
  beforeEach(async () => {
    await server.kill();
    await server.start();
    await until('it serves', async () => (await ask('/page')).status !== 503);
    session = await edgeSession(base(), '/page', ALICE, HOST);
    assert.equal((await ask('/page', { cookie: session })).status, 200);
  });

  const base = () => `http://127.0.0.1:${envoy.port}`;
  const ask = (path: string, headers: RequestOptions['headers'] = {}) =>
    request(base(), path, { headers: { ...headers, host: HOST } });
  const known = async () => (await ask('/page', { cookie: session })).status;

  /** Returns a visitor who has the provider's answer, and comes back with it. */
  async function halfWay(): Promise<() => ReturnType<typeof ask>> {
    const away = await ask('/half-way');
    const { pathname, search } = await logIn(away.headers.location ?? '', ALICE, CALLBACK);
    return () => ask(pathname + search, { cookie: cookiesOf(away.headers) });
  }

  /**
   * Sends every kind of visitor, several at once. The gateway answers all with 503, and sets no
   * cookie and moves none on.
   */
  async function assertClosed(): Promise<void> {
    const comeBack = ask(`/.gateway/oauth2/redirection-endpoint?code=a&state=${'ab'.repeat(32)}`, {
      cookie: session,
    });
    const known = Array.from({ length: 20 }, () => ask('/page', { cookie: session }));
    const strangers = Array.from({ length: 20 }, () => ask('/page', { 'x-user': 'alice' }));
    for (const { body, headers, status } of await Promise.all([comeBack, ...known, ...strangers])) {
      assert.deepEqual(
        [status, headers['set-cookie'], headers.location],
        [503, undefined, undefined],
      );
      assert.equal(JSON.parse(body).status_code, 503);
    }
  }

  test('it is killed: 503 for all, and when it is back, empty, users log in again', async () => {
    await server.kill();
    await assertClosed();
    await server.start();
    await until('it serves', async () => (await known()) !== 503);
    assert.equal(await known(), 303);
    const anew = await edgeSession(base(), '/page', ALICE, HOST);
    assert.equal((await ask('/page', { cookie: anew })).status, 200);
    assert.equal(await known(), 303);
  });

  test('it is frozen: 503 for all, in time, and when it goes on, sessions and logins that were begun do too', async () => {
    const comeBack = await halfWay();
    server.signal('SIGSTOP');
    const frozenAt = performance.now();
    await assertClosed();
    const took = performance.now() - frozenAt;
    server.signal('SIGCONT');
    assert.ok(took < CHECK_MS, `${took} ms`);
    await until('it serves', async () => (await known()) !== 503);
    assert.equal(await known(), 200);
    const back = await comeBack();
    assert.deepEqual([back.status, back.headers.location], [303, `http://${HOST}/half-way`]);
  });

  test('it is killed while a user comes back from the provider: 503, no session', async () => {
    const comeBack = await halfWay();
    await server.kill();
    const back = await comeBack();
    assert.deepEqual([back.status, back.headers['set-cookie']], [503, undefined]);
    await server.start();
    await until('it serves', async () => (await known()) !== 503);
    assert.equal((await comeBack()).status, 303);
  });

  test('it is flushed under load: from then on one logs in again, and a login that was begun ends well', async t => {
    const comeBack = await halfWay();
    let [isFlushed, isOver] = [false, false];
    const seen: (readonly [sentAfter: boolean, status: number])[] = [];
    const visitor = async () => {
      while (!isOver) seen.push([isFlushed, await known()]);
    };
    const visitors = Array.from({ length: 8 }, visitor);
    t.after(async () => {
      isOver = true;
      await Promise.all(visitors);
    });
    await until('it is under load', () => seen.length > 50);
    await flush(server);
    isFlushed = true;
    await until('it was asked since', () => seen.filter(([sentAfter]) => sentAfter).length > 50);
    isOver = true;
    await Promise.all(visitors);
    const statuses = (after: boolean) =>
      new Set(seen.flatMap(([sentAfter, status]) => (sentAfter === after ? status : [])));
    assert.deepEqual([...statuses(true)], [303]);
    assert.ok(statuses(false).isSubsetOf(new Set([200, 303])));
    assert.equal((await comeBack()).status, 303);
    const anew = await edgeSession(base(), '/page', ALICE, HOST);
    assert.equal((await ask('/page', { cookie: anew })).status, 200);
  });
});

async function flush({ address }: RedisServer): Promise<void> {
  const redis = connectRedis(describeRedis(`redis://${address}`), OPTIONS);
  await until('Redis is connected', () => redis.status().connected);
  await redis.send('', ['FLUSHALL']);
  await redis.send('', ['SCRIPT', 'FLUSH']);
  await redis.close();
}

async function openStore({ address }: RedisServer): Promise<RecordStore> {
  const { promise: connected, resolve } = Promise.withResolvers<void>();
  const store = await openRecordStore({
    redis: describeRedis(`redis://${address}`),
    file: '',
    timeoutMs: TIMEOUT_MS,
    now: Date.now,
    uptime: () => performance.now(),
    random: Math.random,
    onEvent: event => event.connected && resolve(),
  });
  await connected;
  return store;
}

function resources(issuer: string, service: string): string {
  const document = (kind: string, spec: string) =>
    `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: site}\nspec: ${spec}\n`;
  return [
    document(
      'Filter',
      `{OAuth2: {authorizationURL: '${issuer}', clientID: web, secret: ${SECRET}, protectedOrigins: [{origin: 'http://${HOST}'}],
        injectRequestHeaders: [{name: X-User, value: '{{ .idToken.Claims.sub }}'}]}}`,
    ),
    document('FilterPolicy', `{rules: [{path: '*', filters: [{name: site}]}]}`),
    document('Mapping', `{prefix: /, rewrite: '', service: '${service}'}`),
  ].join('');
}
