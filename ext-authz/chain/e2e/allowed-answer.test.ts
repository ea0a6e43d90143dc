import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Configuration } from '#ext-authz/filters/filter-set.ts';
import { headerTemplates } from '#ext-authz/jwt/testing/jwt-settings.ts';
import { oauth2Settings } from '#ext-authz/oauth2/testing/oauth2-settings.ts';
import { toProtected } from '#ext-authz/oauth2/testing/test-gateway.ts';
import type { FilterDefinition } from '#ext-authz/policy/filter-settings.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { openSqliteRecordStore } from '#ext-authz/store/sqlite-record-store.ts';
import {
  checkBytes,
  type DirectChecks,
  openDirectChecks,
  readAnswer,
} from '#ext-authz/testing/direct-checks.ts';
import { type HostileProvider, startHostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import { ruleItem } from '#ext-authz/testing/rules.ts';
import { type StoredLogin, storeLogin } from '#ext-authz/testing/store-login.ts';
import { pick, seededRandom } from '#protos/testing/random.ts';

const WRITER = fileURLToPath(new URL('../../store/testing/sqlite-writer.ts', import.meta.url));
const ROUNDS = 300;
const REALM = 'site.default';
const SITE = 'https://site.test';
const IDLE_MS = 1_800_000;

let provider: HostileProvider;
let folder: string;
let file: string;
let store: RecordStore;
let now: number;

before(async () => {
  provider = await startHostileProvider();
  folder = await mkdtemp(join(tmpdir(), 'gateway-answers-'));
  file = join(folder, 'records.sqlite');
  store = await openSqliteRecordStore(file, { now: () => now, uptime: () => performance.now() });
});
beforeEach(() => {
  now = Date.now();
});
after(async () => {
  await store.close();
  await rm(folder, { recursive: true });
  await provider.close();
});

const open = (configuration: Configuration): DirectChecks => {
  const checks = openDirectChecks({ store, now: () => now });
  checks.use(configuration);
  return checks;
};

const logIn = (user: string) =>
  storeLogin(store, { provider, realm: REALM, clientID: 'client', user, now });

/**
 * Configures two filters that share their logins. `/a` sets X-User of the ID token, `/b` also
 * X-Color of the request. `version` is the beginning of X-User.
 */
function configuration(version: string): Configuration {
  const user = ['x-user', `${version} {{ .idToken.Claims.sub }}`] as const;
  const color = ['x-color', '{{ .httpRequestHeader.Get "x-wish" }}'] as const;
  const filter = (
    name: string,
    headers: readonly (readonly [string, string])[],
  ): FilterDefinition => {
    const injectRequestHeaders = headerTemplates(headers);
    const protectedOrigins = [toProtected(SITE)];
    const settings = oauth2Settings(provider.issuer, {
      ...{ grantType: 'AuthorizationCode', accessTokenValidation: 'jwt' },
      ...{ injectRequestHeaders, protectedOrigins, clientSessionMaxIdle: IDLE_MS },
    });
    return { ...{ name, namespace: 'default', realm: REALM, version }, type: 'OAuth2', settings };
  };
  const definitions = new Map([
    ['default/a', filter('a', [user])],
    ['default/b', filter('b', [user, color])],
  ]);
  const rules = ['a', 'b'].map(name => ({
    ...{ id: `default/${name}`, host: '*', path: `/${name}`, items: [ruleItem(name)] },
  }));
  return { definitions, rules, earlier: [] };
}

type Fields = readonly (readonly [name: string, value: string])[];

const cookieOf = ({ id, xsrf }: Pick<StoredLogin, 'id' | 'xsrf'>) =>
  `__Host-gateway_session.${REALM}=${id}; gateway_xsrf.${REALM}=${xsrf}`;
const statusOf = (bytes: Uint8Array) => readAnswer(bytes).denied_response?.status.code ?? 200;

const SOMETIMES: Fields = [
  ['x-user', 'mallory'],
  ['X_User', 'mallory'],
  ['x-color', 'black'],
  ['x-wish', 'green'],
  ['x-wish', 'blue'],
  ['authorization', 'Bearer mine'],
  ['x-gateway-username', 'mallory'],
  ['accept', 'text/html'],
  ['x-request-id', '1'],
];

function randomFields(logins: readonly StoredLogin[], random: () => number): Fields {
  const login = pick(logins, random);
  const [session, xsrf] = cookieOf(login).split('; ') as [string, string];
  const cookies = [
    [session, xsrf],
    [session, xsrf],
    [session, xsrf, 'theme=dark'],
    [session, xsrf, 'gateway_session.other.default=1'],
    [session, `gateway_xsrf.${REALM}=other`],
    [session],
    [session, `__Host-gateway_session.${REALM}=other`, xsrf],
    [xsrf],
    ['theme=dark'],
  ];
  const apart = pick(cookies, random).map(pair => ['cookie', pair] as const);
  const joined = [['cookie', apart.map(([, pair]) => pair).join('; ')]] as const;
  return [...pick([joined, joined, apart], random), ...SOMETIMES.filter(() => random() < 0.1)];
}

test(`${ROUNDS} random requests are answered as by a service that remembers nothing`, async () => {
  const random = seededRandom(7);
  let inForce = configuration('1');
  const kept = open(inForce);
  const logins = await Promise.all(['ada', 'bob', 'eve'].map(logIn));
  const counts = new Map<number, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const what = random();
    if (what < 0.02) {
      inForce = configuration(String(round));
      kept.use(inForce);
    } else if (what < 0.05)
      await store.remove(logins.splice(0, 1, await logIn(`user-${round}`))[0]?.key ?? '');
    else if (what < 0.3) now += Math.floor(random() * 60_000);
    const request = checkBytes(`${SITE}/${pick(['a', 'b'], random)}`, randomFields(logins, random));
    const [answer, wanted] = [await kept.check(request), await open(inForce).check(request)];
    const status = statusOf(wanted);
    counts.set(status, (counts.get(status) ?? 0) + 1);
    assert.equal(statusOf(answer), status, `round ${round}`);
    if (status === 200) assert.deepEqual(readAnswer(answer), readAnswer(wanted), `round ${round}`);
  }
  assert.ok((counts.get(200) ?? 0) > ROUNDS / 3 && (counts.get(303) ?? 0) > ROUNDS / 10);
});

test('the check of a known session costs no promise, and its answer is not encoded again', async () => {
  const { check } = open(configuration('1'));
  const request = checkBytes(`${SITE}/a`, [['cookie', cookieOf(await logIn('ada'))]]);
  // The token is verified, then its key looked for among those known.
  for (let times = 0; times < 2; times++) await check(request);
  const known = check(request);
  assert.ok(!(known instanceof Promise));
  assert.equal(check(request), known);
});

test('a logout in another process counts at the very next check', async () => {
  const { check } = open(configuration('1'));
  const login = await logIn('ada');
  const request = checkBytes(`${SITE}/a`, [['cookie', cookieOf(login)]]);
  for (let times = 0; times < 3; times++) assert.equal(statusOf(await check(request)), 200);
  await promisify(execFile)(process.execPath, [WRITER, 'take', file, login.key]);
  assert.equal(statusOf(await check(request)), 303);
});

test('an answer that renews cookies is no remembered one', async () => {
  const { check } = open(configuration('1'));
  const who = { provider, realm: REALM, clientID: 'client', user: 'ada', now, refreshToken: 'r' };
  const request = checkBytes(`${SITE}/a`, [['cookie', cookieOf(await storeLogin(store, who))]]);
  const cookiesSet = async () =>
    readAnswer(await check(request)).ok_response?.response_headers_to_add.filter(
      ({ header }) => header.key === 'set-cookie',
    ).length;
  assert.equal(await cookiesSet(), 3);
  for (let times = 0; times < 3; times++) assert.equal(await cookiesSet(), 0);
  now += IDLE_MS / 2;
  assert.equal(await cookiesSet(), 0);
  now += 1;
  assert.equal(await cookiesSet(), 3);
  assert.equal(await cookiesSet(), 0);
});

test('a check at the end of the access token is the first that is not let pass', async () => {
  const { check } = open(configuration('1'));
  const login = await logIn('ada');
  const request = checkBytes(`${SITE}/a`, [['cookie', cookieOf(login)]]);
  now = login.session.accessTokenEnds - 1;
  for (let times = 0; times < 3; times++) assert.equal(statusOf(await check(request)), 200);
  now += 1;
  assert.equal(statusOf(await check(request)), 303);
});

test('a rule whose filters changed answers by the new ones at once', async () => {
  const { check, use } = open(configuration('old'));
  const request = checkBytes(`${SITE}/a`, [['cookie', cookieOf(await logIn('ada'))]]);
  const userOf = async () =>
    readAnswer(await check(request)).ok_response?.headers.find(
      ({ header }) => header.key === 'x-user',
    )?.header.value;
  for (let times = 0; times < 3; times++) assert.equal(await userOf(), 'old ada');
  use(configuration('new'));
  assert.equal(await userOf(), 'new ada');
});

test('what a client says of itself takes no remembered way', async () => {
  const { check } = open(configuration('1'));
  const cookie = ['cookie', cookieOf(await logIn('ada'))] as const;
  for (let times = 0; times < 3; times++) await check(checkBytes(`${SITE}/a`, [cookie]));
  for (const name of [
    'x_user',
    'X-USER',
    'authorization',
    'x-gateway-username',
    'x_gateway_password',
  ]) {
    const { ok_response } = readAnswer(
      await check(checkBytes(`${SITE}/a`, [cookie, [name, 'mallory']])),
    );
    const replaced = ok_response?.headers.some(({ header }) => header.key === name.toLowerCase());
    assert.ok(replaced || ok_response?.headers_to_remove.includes(name.toLowerCase()), name);
  }
});
