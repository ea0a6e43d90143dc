import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { UnsecuredJWT } from 'jose';
import type { TokenSet } from '#ext-authz/provider/token-answer.ts';
import { sealOfCredentials, sealRecord } from '#ext-authz/store/sealed-record.ts';
import { openSqliteStores } from '#ext-authz/store/testing/sqlite-stores.ts';
import { type GrantTerms, TokenCache, toGrantedToken } from './token-cache.ts';

const NOW = 1_700_000_000_000;
const HOUR = 3_600_000;

function tokens(changes: Partial<TokenSet> = {}): TokenSet {
  const unsaid = { expiresInSeconds: undefined, scope: undefined };
  return { accessToken: 'opaque', tokenType: 'Bearer', ...unsaid, ...changes };
}

const jwt = (seconds: number) => new UnsecuredJWT({ exp: NOW / 1_000 + seconds }).encode();

const TERMS: GrantTerms = {
  asked: ['a'],
  askedAt: NOW,
  margin: 0,
  credentialsEnd: Number.POSITIVE_INFINITY,
};

for (const [what, changes, terms, lifetime] of [
  ['one hour when nothing is said', {}, {}, HOUR],
  ['expires_in', { expiresInSeconds: 7_200 }, {}, 2 * HOUR],
  ['exp of the access token', { accessToken: jwt(7_200) }, {}, 2 * HOUR],
  ['exp before expires_in', { accessToken: jwt(60), expiresInSeconds: 120 }, {}, 60_000],
  ['expires_in before exp', { accessToken: jwt(120), expiresInSeconds: 60 }, {}, 60_000],
  ['less the margin', {}, { margin: 60_000 }, HOUR - 60_000],
  ['not longer than the credentials', {}, { credentialsEnd: NOW + 5_000 }, 5_000],
] as const)
  test(`a token is usable for: ${what}`, () =>
    assert.equal(
      toGrantedToken(tokens(changes), { ...TERMS, ...terms }).usableUntil,
      NOW + lifetime,
    ));

test('the scope granted is that of the answer, else what was asked for', () => {
  assert.deepEqual(toGrantedToken(tokens(), TERMS).scope, ['a']);
  assert.deepEqual(toGrantedToken(tokens({ scope: [] }), TERMS).scope, []);
});

const profiled = (claims: object, typ = 'at+jwt') =>
  `${[{ typ, alg: 'RS256' }, claims].map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.s`;

for (const [what, accessToken, granted] of [
  ['its scope', profiled({ scope: 'b c' }), ['b', 'c', 'openid']],
  ['its scp', profiled({ scp: ['a'] }, 'Application/AT+JWT'), ['a', 'openid']],
  ['no scope, which grants nothing of an API', profiled({}), ['openid']],
  ['no scope, and is of another type', profiled({}, 'JWT'), ['a', 'openid']],
] as const)
  test(`an answer without scope, whose token tells ${what}`, () => {
    const terms = { ...TERMS, asked: ['a', 'openid'] };
    assert.deepEqual(toGrantedToken(tokens({ accessToken }), terms).scope, granted);
    const listed = toGrantedToken(tokens({ accessToken, scope: ['x'] }), terms);
    assert.deepEqual(listed.scope, ['x']);
  });

async function open(t: TestContext) {
  const stores = await openSqliteStores();
  t.after(() => stores.close());
  const caches = [stores.one, stores.two].map(
    store => new TokenCache({ store, now: () => NOW, randomBytes }),
  );
  const key = createSecretKey(randomBytes(32));
  const seal = sealOfCredentials(key, { kind: 'token', realm: 'a.b' }, ['me', 'secret']);
  const [one, two] = caches;
  assert.ok(one !== undefined && two !== undefined);
  return { one, two, seal, store: stores.one };
}

test('a token that was replaced is not dropped again', async t => {
  const { one, seal } = await open(t);
  const [old, next] = ['old', 'next'].map(accessToken =>
    toGrantedToken(tokens({ accessToken }), TERMS),
  );
  assert.ok(old !== undefined && next !== undefined);
  await one.write(seal, old);
  await one.drop(seal, old);
  assert.equal(await one.read(seal), undefined);
  await one.write(seal, next);
  await one.drop(seal, old);
  assert.equal(one.known(seal)?.accessToken, 'next');
  assert.equal((await one.read(seal))?.accessToken, 'next');
});

test('another process reads what one has written', async t => {
  const { one, two, seal } = await open(t);
  await one.write(seal, toGrantedToken(tokens({ scope: ['a', 'b'] }), TERMS));
  assert.equal(two.known(seal), undefined);
  assert.deepEqual((await two.read(seal))?.scope, ['a', 'b']);
  assert.equal(two.known(seal)?.accessToken, 'opaque');
});

test('a record of another form is none', async t => {
  const { one, seal, store } = await open(t);
  for (const record of [
    {},
    [],
    'text',
    { accessToken: 'a', scope: ['b', 1], usableUntil: NOW + 1 },
    { accessToken: 'a', scope: [] },
  ]) {
    await store.create(seal.key, sealRecord(seal, record, randomBytes), 1_000);
    assert.equal(await one.read(seal), undefined, JSON.stringify(record));
    await store.remove(seal.key);
  }
});
