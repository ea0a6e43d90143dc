import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import { CompactSign, exportSPKI, importJWK, SignJWT, UnsecuredJWT } from 'jose';
import {
  type HostileProvider,
  type IdTokenChanges,
  makeSigningKey,
  type SigningKey,
  startHostileProvider,
} from '#ext-authz/testing/hostile-provider.ts';
import {
  EXCHANGE,
  openTestProvider,
  providerError,
} from '#ext-authz/testing/open-test-provider.ts';
import { soon } from '#ext-authz/testing/soon.ts';
import type { CodeExchange } from './provider.ts';
import type { ProviderErrorCode } from './provider-error.ts';

let hostile: HostileProvider;
let other: SigningKey;

before(async () => {
  [hostile, other] = await Promise.all([startHostileProvider(), makeSigningKey('other')]);
});
after(() => hostile.close());
beforeEach(() => hostile.reset());

const nowS = () => Math.floor(Date.now() / 1_000);

/** What comes of a login whose token answer has this ID token. */
function loginWith(t: TestContext, idToken: string, changes: Partial<CodeExchange> = {}) {
  hostile.behave('token', async () => ({ body: await hostile.tokens({ id_token: idToken }) }));
  return openTestProvider(t, hostile).exchangeCode({ ...EXCHANGE, ...changes }, soon());
}

async function accepts(t: TestContext, changes: IdTokenChanges) {
  const { idToken } = await loginWith(t, await hostile.idToken(changes));
  assert.equal(idToken.claims.sub, 'alice');
}

async function refuses(
  t: TestContext,
  changes: IdTokenChanges,
  check: string | RegExp,
  code: ProviderErrorCode = 'invalid_id_token',
) {
  await assert.rejects(loginWith(t, await hostile.idToken(changes)), providerError(code, check));
}

test('an honest ID token gives raw text, header and claims', async t => {
  const raw = await hostile.idToken();
  const { idToken } = await loginWith(t, raw);
  assert.equal(idToken.raw, raw);
  assert.deepEqual(idToken.header, { alg: 'RS256', kid: 'first' });
  assert.deepEqual(
    [idToken.claims.iss, idToken.claims.aud, idToken.claims.nonce],
    [hostile.issuer, 'client', 'nonce'],
  );
});

test('iss of another issuer is refused', t =>
  refuses(
    t,
    { claims: { iss: 'https://evil.test' } },
    '`iss` is "https://evil.test", not "http://',
  ));
test('iss that differs by a trailing slash is refused', t =>
  refuses(t, { claims: { iss: `${hostile.issuer}/` } }, '`iss`'));
test('aud of another client is refused', t =>
  refuses(t, { claims: { aud: 'another' } }, '`aud` is "another", which is not clientID "client"'));
test('aud that is nested too deep is refused', async t => {
  const claims = `{"iss":"${hostile.issuer}","aud":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  const idToken = await new CompactSign(new TextEncoder().encode(claims))
    .setProtectedHeader({ alg: 'RS256', kid: 'first' })
    .sign(hostile.key.privateKey);
  await assert.rejects(
    loginWith(t, idToken),
    providerError('invalid_id_token', 'not a signed JWT'),
  );
});
test('aud as a list with our client alone is accepted', t =>
  accepts(t, { claims: { aud: ['client'] } }));
test('several aud without azp are refused', t =>
  refuses(t, { claims: { aud: ['client', 'another'] } }, '`azp`'));
test('several aud with our azp are accepted', t =>
  accepts(t, { claims: { aud: ['client', 'another'], azp: 'client' } }));
test('azp of another client is refused, with one aud too', t =>
  refuses(t, { claims: { azp: 'another' } }, '`azp`'));
test('a missing sub is refused', t => refuses(t, { claims: { sub: undefined } }, '`sub`'));
test('an empty sub is refused', t => refuses(t, { claims: { sub: '' } }, '`sub`'));
test('a sub that is a number is refused', t => refuses(t, { claims: { sub: 7 } }, '`sub`'));

test('exp 29 s ago is accepted', t => accepts(t, { claims: { exp: nowS() - 28 } }));
test('exp 31 s ago is refused', t =>
  refuses(t, { claims: { exp: nowS() - 31 } }, 's ago by the clock here, 30 s are allowed'));
test('a missing exp is refused', t => refuses(t, { claims: { exp: undefined } }, '`exp`'));
test('an exp that is a text is refused', t =>
  refuses(t, { claims: { exp: '9999999999' } }, '`exp`'));
test('iat 28 s ahead is accepted', t => accepts(t, { claims: { iat: nowS() + 28 } }));
test('iat 32 s ahead is refused', t =>
  refuses(t, { claims: { iat: nowS() + 32 } }, 's ahead by the clock here, 30 s are allowed'));
test('a missing iat is refused', t => refuses(t, { claims: { iat: undefined } }, '`iat`'));
test('nbf ahead is refused', t => refuses(t, { claims: { nbf: nowS() + 60 } }, '`nbf`'));

test('another nonce is refused', t => refuses(t, { claims: { nonce: 'replayed' } }, '`nonce`'));
test('a missing nonce is refused', t => refuses(t, { claims: { nonce: undefined } }, '`nonce`'));
test('a nonce that is a list is refused', t =>
  refuses(t, { claims: { nonce: ['nonce'] } }, '`nonce`'));

test('the right at_hash is accepted', t => {
  const half = createHash('sha256').update('access').digest().subarray(0, 16).toString('base64url');
  return accepts(t, { claims: { at_hash: half } });
});
test('the at_hash of another access token is refused', t =>
  refuses(t, { claims: { at_hash: 'MTIzNDU2Nzg5MDEyMzQ1Ng' } }, '`at_hash`'));
test('an at_hash that is no text is refused', t =>
  refuses(t, { claims: { at_hash: 1 } }, '`at_hash`'));

test('an at_hash, azp or c_hash of null counts as left out', t =>
  accepts(t, { claims: { at_hash: null, azp: null, c_hash: null } }));
test('several aud with an azp of null are refused', t =>
  refuses(t, { claims: { aud: ['client', 'another'], azp: null } }, '`azp`'));
test('a nonce of null or nothing is refused at a login', async t => {
  await refuses(t, { claims: { nonce: null } }, '`nonce`');
  await refuses(t, { claims: { nonce: '' } }, '`nonce`');
});

test('at_hash goes with the hash of the algorithm: ES512', async t => {
  const es512 = await makeSigningKey('es', 'ES512');
  hostile.behave('jwks', () => ({ body: { keys: [es512.publicJwk] } }));
  const at_hash = createHash('sha512')
    .update('access')
    .digest()
    .subarray(0, 32)
    .toString('base64url');
  await accepts(t, {
    claims: { at_hash },
    header: { alg: 'ES512', kid: 'es' },
    key: es512.privateKey,
  });
});

test('a signature by another key under the known kid is refused', t =>
  refuses(t, { key: other.privateKey }, 'its signature is wrong', 'unverified_id_token'));
test('a key that is not in the set is refused', t =>
  refuses(
    t,
    { header: { kid: 'other' }, key: other.privateKey },
    /key set http:.*\/jwks \(kid "other"\)/,
    'unverified_id_token',
  ));

test('an altered payload is refused', async t => {
  const [header, , signature] = (await hostile.idToken()).split('.');
  const payload = (await hostile.idToken({ claims: { sub: 'mallory' } })).split('.')[1];
  const altered = [header, payload, signature].join('.');
  await assert.rejects(
    loginWith(t, altered),
    providerError('unverified_id_token', 'its signature is wrong'),
  );
});

test('alg none is refused', async t => {
  const token = new UnsecuredJWT({
    iss: hostile.issuer,
    sub: 'alice',
    aud: 'client',
    nonce: 'nonce',
  })
    .setIssuedAt()
    .setExpirationTime('1h')
    .encode();
  await assert.rejects(loginWith(t, token), providerError('invalid_id_token', '`alg` is "none"'));
});

test('alg none in other spellings is refused', async t => {
  const [, payload] = (await hostile.idToken()).split('.');
  for (const alg of ['None', 'NONE', 'nOnE', '']) {
    const header = Buffer.from(JSON.stringify({ alg })).toString('base64url');
    await assert.rejects(loginWith(t, `${header}.${payload}.`), providerError('invalid_id_token'));
  }
});

test('HS256 with the public key as secret is refused, as PEM and as JWK', async t => {
  const publicKey = await importJWK(hostile.key.publicJwk, 'RS256', { extractable: true });
  assert.ok(!(publicKey instanceof Uint8Array));
  for (const text of [await exportSPKI(publicKey), JSON.stringify(hostile.key.publicJwk)]) {
    await refuses(t, { header: { alg: 'HS256' }, key: new TextEncoder().encode(text) }, '`alg`');
  }
});

test('HS256 is refused though the provider says that it signs with it', async t => {
  hostile.behave('discovery', () => ({
    body: { ...hostile.discovery(), id_token_signing_alg_values_supported: ['HS256', 'RS256'] },
  }));
  await refuses(
    t,
    { header: { alg: 'HS256' }, key: new TextEncoder().encode('secret'.repeat(8)) },
    '`alg`',
  );
});

test('an algorithm that the provider does not announce is refused', async t => {
  hostile.behave('discovery', () => ({
    body: { ...hostile.discovery(), id_token_signing_alg_values_supported: ['ES256'] },
  }));
  await refuses(t, {}, '`alg`');
});

test('a crit that is not understood is refused', async t => {
  const claims = { iss: hostile.issuer, sub: 'alice', aud: 'client', nonce: 'nonce' };
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', kid: 'first', crit: ['x'], x: 1 })
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(hostile.key.privateKey, { crit: { x: true } });
  await assert.rejects(loginWith(t, token), providerError('invalid_id_token', 'not a signed JWT'));
});

test('what is no JWT is refused', async t => {
  for (const text of [
    '',
    'a',
    'a.b.c',
    '..',
    'a.b.c.d.e',
    'null.null.null',
    `${'e'.repeat(1000)}.`,
  ]) {
    const outcome = loginWith(t, text === '' ? ' ' : text);
    await assert.rejects(outcome, providerError('invalid_id_token', 'not a signed JWT'));
  }
});

test('an answer without ID token is an error of its own', async t => {
  for (const id_token of [undefined, null, '']) {
    hostile.behave('token', async () => ({ body: await hostile.tokens({ id_token }) }));
    await assert.rejects(
      openTestProvider(t, hostile).exchangeCode(EXCHANGE, soon()),
      providerError('no_id_token'),
    );
  }
});

test('an ID token that is no text is refused', async t => {
  hostile.behave('token', async () => ({
    body: await hostile.tokens({ id_token: { alg: 'none' } }),
  }));
  await assert.rejects(
    openTestProvider(t, hostile).exchangeCode(EXCHANGE, soon()),
    providerError('invalid_id_token'),
  );
});

test('nothing of a refused token is in the error', async t => {
  const raw = await hostile.idToken({ claims: { sub: 'very-secret', nonce: 'wrong-one' } });
  const error: unknown = await loginWith(t, raw).catch(caught => caught);
  assert.ok(error instanceof Error);
  const dump = JSON.stringify(error) + error.stack + String(error.cause);
  for (const secret of [raw, 'very-secret', 'wrong-one', '"nonce"', 'access"'])
    assert.ok(!dump.includes(secret));
});

async function refreshWith(
  t: TestContext,
  changes: IdTokenChanges,
  previous: Record<string, unknown> = {},
) {
  hostile.behave('token', async () => ({
    body: await hostile.tokens({ id_token: await hostile.idToken(changes) }),
  }));
  const old = { iss: hostile.issuer, sub: 'alice', aud: 'client', nonce: 'nonce', ...previous };
  return openTestProvider(t, hostile).refresh({ refreshToken: 'refresh', previous: old }, soon());
}

test('a refresh gives an ID token that continues the login', async t => {
  const { idToken } = await refreshWith(t, {});
  assert.equal(idToken?.claims.sub, 'alice');
});
test('a refresh may leave out the nonce', async t => {
  assert.ok((await refreshWith(t, { claims: { nonce: undefined } })).idToken);
});
test('a refresh may have nulls or empty texts for what it leaves out', async t => {
  const authentik = { at_hash: null, c_hash: null, nonce: null };
  assert.ok((await refreshWith(t, { claims: authentik })).idToken);
  assert.ok((await refreshWith(t, { claims: { azp: null, nonce: '' } })).idToken);
  assert.ok((await refreshWith(t, { claims: {} }, { azp: null })).idToken);
});
test('a refresh may not change the nonce', t =>
  assert.rejects(
    refreshWith(t, { claims: { nonce: 'new' } }),
    providerError('invalid_id_token', '`nonce`'),
  ));
test('a refresh may not change sub', t =>
  assert.rejects(
    refreshWith(t, { claims: { sub: 'bob' } }),
    providerError('invalid_id_token', '`sub`'),
  ));
test('a refresh may not change aud', t =>
  assert.rejects(
    refreshWith(t, { claims: { aud: ['client', 'x'], azp: 'client' } }, { azp: 'client' }),
    providerError('invalid_id_token', '`aud`'),
  ));
test('a refresh may not change azp', t =>
  assert.rejects(
    refreshWith(t, { claims: { azp: 'client' } }),
    providerError('invalid_id_token', '`azp`'),
  ));
test('a refresh may write one aud as a list', async t => {
  assert.ok((await refreshWith(t, { claims: { aud: ['client'] } })).idToken);
});
test('a refresh without ID token is fine', async t => {
  hostile.behave('token', async () => ({ body: await hostile.tokens({ id_token: undefined }) }));
  const tokens = await openTestProvider(t, hostile).refresh(
    { refreshToken: 'r', previous: {} },
    soon(),
  );
  assert.equal(tokens.idToken, undefined);
});
