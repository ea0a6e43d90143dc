import assert from 'node:assert/strict';
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import pino from 'pino';
import { compile } from '#controlplane/compile/compile.ts';
import { EXT_AUTHZ } from '#controlplane/compile/node-groups.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { snapshotEncoder } from '#controlplane/rollout/envoy-snapshot.ts';
import { until } from '#envoy/e2e/until.ts';
import { authorize, grantCodes } from '#ext-authz/oauth2/testing/code-provider.ts';
import type { Definitions } from '#ext-authz/policy/filter-settings.ts';
import { openSqliteRecordStore } from '#ext-authz/store/sqlite-record-store.ts';
import type { StoreFault } from '#ext-authz/store/store-fault.ts';
import { type HostileProvider, startHostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import { assertionSettings } from '#ext-authz/testing/provider-settings.ts';
import { requestWith } from '#ext-authz/testing/requests.ts';
import { ruleItem } from '#ext-authz/testing/rules.ts';
import type { ReportedFinding } from '#process/report.ts';
import { FILTER_TYPES, FilterSet } from './filter-set.ts';
import { openFilterKit } from './open-filter-kit.ts';

let hostile: HostileProvider;
before(async () => {
  hostile = await startHostileProvider();
});
after(() => hostile.close());
beforeEach(() => hostile.reset());

const filter = (name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: Filter\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;
const login = (url = hostile.issuer, more = '') =>
  filter(
    'login',
    `OAuth2: {authorizationURL: "${url}", clientID: client, secret: secret, protectedOrigins: [{origin: "http://site.test"}]${more}}`,
  );

/** What the control plane would send of it. */
function definitionsOf(yaml: string): Definitions {
  const address = { host: '127.0.0.1', port: 1 };
  const options = { edge: address, sds: address, rateLimit: address, extAuthz: address };
  const compiled = compile(resourceSetOf(yaml).resources, EXT_AUTHZ, options);
  const snapshot = snapshotEncoder(Buffer.alloc(32))(compiled);
  const set = new FilterSet();
  const [, taken] = FILTER_TYPES.map(typeUrl => {
    const changed = [...(snapshot.get(typeUrl)?.values() ?? [])];
    return set.update({ typeUrl, changed, removed: [], complete: true });
  });
  assert.ok(
    taken !== undefined && 'value' in taken && taken.value !== undefined,
    JSON.stringify(taken),
  );
  return taken.value.definitions;
}

/** Filters whose pauses a test ends, and what they report. */
async function setUp(t: TestContext, looks = true) {
  const folder = mkdtempSync(join(tmpdir(), 'findings-'));
  let time = Date.now();
  const now = () => time;
  const store = await openSqliteRecordStore(join(folder, 'records.sqlite'), {
    now,
    uptime: () => performance.now(),
  });
  const pauses = new Set<{ readonly ms: number; end(): void }>();
  let reported: () => readonly ReportedFinding[] = () => [];
  let storeFault: StoreFault | undefined;
  const kit = openFilterKit({
    ...{ store, now, randomBytes, id: randomUUID, timeout: AbortSignal.timeout },
    storeKey: createSecretKey(randomBytes(32)),
    log: pino({ level: 'silent' }),
    pause: (ms, signal) =>
      new Promise(resolve => {
        const end = () => {
          pauses.delete(pause);
          resolve();
        };
        const pause = { ms, end };
        pauses.add(pause);
        signal?.addEventListener('abort', end);
      }),
    findings: {
      looks,
      report: find => {
        reported = find;
      },
      storeFault: () => storeFault,
    },
  });
  t.after(async () => {
    kit.use(new Map());
    for (const { end } of [...pauses]) end();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const said = () => reported().map(({ severity, message }) => `${severity}: ${message}`);
  return {
    use: (yaml: string) => kit.use(definitionsOf(yaml)),
    breakStore: (fault: StoreFault | undefined) => {
      storeFault = fault;
    },
    kit,
    reported: () => reported(),
    said,
    says: (pattern: RegExp) =>
      until(
        () => (said().some(text => pattern.test(text)) ? true : undefined),
        30_000,
        `${pattern}`,
      ),
    quiet: () => until(() => (said().length === 0 ? true : undefined), 30_000, 'no finding'),
    /** Waits until something waits, lets the time pass, and ends the waiting. */
    pass: async () => {
      const waiting = await until(() => [...pauses].find(({ ms }) => ms !== CLOSING_MS));
      time += waiting.ms;
      waiting.end();
      return waiting.ms;
    },
    waiting: () => [...pauses].map(({ ms }) => ms),
  };
}

/** For which a Filter that has gone stays open. */
const CLOSING_MS = 10_000;

test('a provider whose issuer is another is told of before anybody logs in, with both names', async t => {
  const it = await setUp(t);
  hostile.behave('discovery', () => ({
    body: { ...hostile.discovery(), issuer: 'https://other.example' },
  }));
  it.use(login());
  await it.pass();
  await it.says(/other\.example/);
  assert.deepEqual(it.reported(), [
    {
      resource: 'Filter/default/login',
      field: 'spec.OAuth2.authorizationURL',
      severity: 'error',
      message: `the discovery document of ${hostile.issuer} is that of the issuer "https://other.example". authorizationURL must be the issuer's URL`,
      outOfService: false,
    },
  ]);
});

test('what is mended at the provider is no longer reported, without a request', async t => {
  const it = await setUp(t);
  hostile.behave('discovery', () => ({
    body: { ...hostile.discovery(), issuer: 'https://other.example' },
  }));
  it.use(login());
  await it.pass();
  await it.says(/other\.example/);
  hostile.reset();
  await it.pass();
  await it.quiet();
  assert.deepEqual(it.waiting(), [], 'and it is not asked any more');
});

test('what is mended by an edit is no longer told of', async t => {
  const it = await setUp(t);
  hostile.behave('discovery', () => ({
    body: { ...hostile.discovery(), issuer: 'https://other.example' },
  }));
  it.use(login());
  await it.pass();
  await it.says(/other\.example/);
  hostile.reset();
  it.use(login(`${hostile.issuer}/`));
  assert.deepEqual(it.said(), []);
  it.use('');
  assert.deepEqual(it.said(), []);
});

test('an outage is told of when it has lasted, in the same words each time', async t => {
  const it = await setUp(t);
  hostile.behave('discovery', () => ({ status: 503 }));
  it.use(login());
  let passed = 0;
  const spoken = new Set<string>();
  for (let round = 0; round < 8; round += 1) {
    const asked = hostile.asked('discovery').length;
    passed += await it.pass();
    await until(() => (hostile.asked('discovery').length > asked ? true : undefined));
    await until(() => it.waiting()[0]);
    for (const text of it.said()) spoken.add(text);
    assert.equal(it.said().length, passed >= 10_000 ? 1 : 0, `after ${passed} ms`);
  }
  const url = `${hostile.issuer}/.well-known/openid-configuration`;
  assert.deepEqual([...spoken], [`warning: the discovery document ${url}: status 503`]);
  assert.ok(
    passed > 60_000 && hostile.asked('discovery').length === 8,
    'and the provider is not stormed',
  );
  hostile.reset();
  await it.pass();
  await it.quiet();
});

test('endpoints that are missing, keys that are none, and a page that is not there are mistakes', async t => {
  const it = await setUp(t);
  const without = (name: string) => () => ({ body: { ...hostile.discovery(), [name]: undefined } });
  for (const [endpoint, behaviour, wanted] of [
    ['discovery', without('token_endpoint'), /^error: .* has no `token_endpoint`$/],
    ['discovery', without('jwks_uri'), /^error: .* has no `jwks_uri`$/],
    ['discovery', () => ({ status: 404 }), /^error: the discovery document .*: status 404$/],
    ['jwks', () => ({ body: {} }), /^error: the key set of .* has no list `keys`$/],
  ] as const) {
    hostile.reset();
    hostile.behave(endpoint, behaviour);
    it.use('');
    it.use(login());
    await it.pass();
    await it.says(wanted);
    assert.equal(it.said().length, 1);
  }
});

test('a JWT Filter tells of its key set', async t => {
  const it = await setUp(t);
  hostile.behave('jwks', () => ({ status: 404 }));
  it.use(filter('tokens', `JWT: {jwksURI: "${hostile.issuer}/jwks"}`));
  await it.pass();
  await it.says(/the key set .*\/jwks: status 404/);
  const [finding] = it.reported();
  assert.deepEqual(
    [finding?.resource, finding?.field],
    ['Filter/default/tokens', 'spec.JWT.jwksURI'],
  );
});

/** Logs in at the Filter `login`, and returns the answer to its callback. */
async function logIn(it: Awaited<ReturnType<typeof setUp>>, filters: ReturnType<typeof it.use>) {
  const away = await filters.get('default/login')?.run(requestWith(), ruleItem('login'), CONTEXT);
  assert.ok(away?.kind === 'answer');
  const headers = new Map(away.answer.headers);
  const { pathname, search } = new URL(authorize(new URL(headers.get('location') ?? '')));
  const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  const request = requestWith({ cookie }, { target: pathname + search });
  return it.kit.endpoint(request, { ...CONTEXT, ruleAt: () => undefined });
}

const { signal } = new AbortController();
const CONTEXT = { signal: () => signal, runInner: () => assert.fail() };

test('an access token with which no login ends is told of, with its check, until one is good', async t => {
  const it = await setUp(t);
  grantCodes(hostile);
  const filters = it.use(login(undefined, ', accessTokenValidation: jwt'));
  assert.equal((await logIn(it, filters))?.status, 502);
  const [finding, ...others] = it.reported();
  assert.deepEqual(others, []);
  assert.deepEqual(finding, {
    resource: 'Filter/default/login',
    field: 'spec.OAuth2.accessTokenValidation',
    severity: 'error',
    message: `a new access token of ${hostile.issuer} was refused: the access token is not a signed JWT (see accessTokenValidation)`,
    outOfService: false,
  });
  const access_token = await hostile.idToken();
  grantCodes(hostile, () => ({ access_token }));
  assert.equal((await logIn(it, filters))?.status, 303);
  assert.deepEqual(it.said(), []);
});

test('an access token of a client that is refused is told of too', async t => {
  const it = await setUp(t);
  const machines = login(undefined, ', grantType: ClientCredentials').replace(
    'clientID: client, secret: secret, ',
    '',
  );
  const filters = it.use(machines.replace(/, protectedOrigins: \[.*?\]/, ''));
  const request = requestWith({ 'x-gateway-client-id': 'me', 'x-gateway-client-secret': 'secret' });
  const { signal } = new AbortController();
  const context = { signal: () => signal, runInner: () => assert.fail() };
  await filters.get('default/login')?.run(request, ruleItem('login'), context);
  assert.match(
    it.said()[0] ?? '',
    /^error: a new access token of .* was refused: the access token/,
  );
});

test('a Filter that cannot be opened is out of service', async t => {
  const it = await setUp(t);
  const definitions = new Map(
    [...definitionsOf(login())].map(([name, definition]) => {
      assert.ok(definition.type === 'OAuth2');
      const clientAuthentication = {
        method: 'JWTAssertion',
        jwtAssertion: assertionSettings(),
      } as const;
      return [name, { ...definition, settings: { ...definition.settings, clientAuthentication } }];
    }),
  );
  assert.equal(it.kit.use(definitions).size, 0);
  const [finding] = it.reported();
  assert.match(
    finding?.message ?? '',
    /cannot run it, and its log says why. What refers to it answers 500/,
  );
  assert.deepEqual([finding?.resource, finding?.outOfService], ['Filter/default/login', true]);
});

test('while the store does not answer each OAuth2 Filter is out of service, and no JWT Filter', async t => {
  const it = await setUp(t);
  const machines = login(undefined, ', grantType: ClientCredentials').replace(
    'name: login',
    'name: machines',
  );
  it.use(
    login() +
      machines.replace('clientID: client, secret: secret, ', '') +
      filter('tokens', `JWT: {jwksURI: "${hostile.issuer}/jwks"}`),
  );
  it.breakStore({ reason: 'Redis: gone', isRead: false });
  const about = 'the store of sessions and tokens does not answer (Redis: gone). Until it does, ';
  const all = { field: '', severity: 'error', outOfService: true } as const;
  const byId = it.reported().toSorted((a, b) => (a.resource < b.resource ? -1 : 1));
  assert.deepEqual(byId, [
    {
      ...{ resource: 'Filter/default/login', ...all },
      message: `${about}no login begins, and requests with a login get 503`,
    },
    {
      ...{ resource: 'Filter/default/machines', ...all },
      message: `${about}requests that need a token from the provider or the store get 503`,
    },
  ]);
  it.breakStore({ reason: 'Redis: its memory is full', isRead: true });
  const full =
    'error: the store of sessions and tokens takes nothing new (Redis: its memory is full)';
  assert.deepEqual(it.said().toSorted(), [
    `${full}. Until it does, no login begins and no session is renewed, while other sessions go on`,
    `${full}. Until it does, requests that need a new token get 503`,
  ]);
  assert.ok(it.reported().every(({ outOfService }) => !outOfService));
  it.breakStore({ reason: 'Redis: 80 %', isRead: true, isWritten: true });
  const crowded = 'warning: the store of sessions and tokens is nearly full (Redis: 80 %)';
  assert.deepEqual(it.said(), [crowded, crowded]);
  assert.ok(it.reported().every(({ outOfService }) => !outOfService));
  it.breakStore(undefined);
  assert.deepEqual(it.said(), []);
});

test('a process that need not look reports what requests show, and looks until it is mended', async t => {
  const it = await setUp(t, false);
  hostile.behave('jwks', () => ({ status: 404 }));
  const filters = it.use(filter('tokens', `JWT: {jwksURI: "${hostile.issuer}/jwks"}`));
  assert.deepEqual([hostile.asked('jwks').length, it.waiting()], [0, []]);
  const request = requestWith({ authorization: `Bearer ${await hostile.idToken()}` });
  const run = async () => filters.get('default/tokens')?.run(request, ruleItem('tokens'), CONTEXT);
  await assert.rejects(run());
  await it.says(/status 404/);
  hostile.reset();
  await it.pass();
  await it.quiet();
});
