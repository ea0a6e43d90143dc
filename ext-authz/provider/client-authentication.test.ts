import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { type HostileProvider, startHostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import { openTestProvider } from '#ext-authz/testing/open-test-provider.ts';
import {
  assertionSettings,
  providerSettings,
  secretOf,
} from '#ext-authz/testing/provider-settings.ts';
import { soon } from '#ext-authz/testing/soon.ts';
import { SIGNING_METHODS, type SigningMethod } from '#resources/kinds/filter/signing-method.ts';
import { SecretValue } from '#resources/words/secret-value.ts';
import { openProvider } from './open-provider.ts';
import type { AssertionSettings, ProviderSettings } from './settings.ts';

let hostile: HostileProvider;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
before(async () => {
  hostile = await startHostileProvider();
});
after(() => hostile.close());
beforeEach(() => {
  hostile.reset();
  hostile.behave('token', async () => ({ body: await hostile.tokens({ id_token: undefined }) }));
});

/** The token request of a password grant. */
async function tokenRequest(
  t: TestContext,
  changes: Partial<ProviderSettings>,
  scope: readonly string[] = [],
) {
  await openTestProvider(t, hostile, changes).password(
    { username: 'alice', password: 'pass', scope },
    soon(),
  );
  const [request] = hostile.asked('token');
  assert.ok(request);
  return request;
}

function basicOf(header: string | undefined): readonly string[] {
  const [scheme, value = ''] = header?.split(' ') ?? [];
  assert.equal(scheme, 'Basic');
  return Buffer.from(value, 'base64').toString().split(':');
}

test('HeaderPassword: Basic, and nothing of the client in the body', async t => {
  const { form, headers } = await tokenRequest(t, {});
  assert.deepEqual(basicOf(headers.authorization), ['client', 'secret']);
  assert.deepEqual(
    [...form],
    [
      ['username', 'alice'],
      ['password', 'pass'],
      ['grant_type', 'password'],
    ],
  );
});

test('HeaderPassword leaves as it is what needs no encoding: not every provider decodes', async t => {
  const { headers } = await tokenRequest(t, {
    clientID: 'a-b_c.d',
    secret: secretOf('X8Q~e.f-g_h'),
  });
  assert.deepEqual(basicOf(headers.authorization), ['a-b_c.d', 'X8Q~e.f-g_h']);
});

for (const text of ['a:b', 'a b+c', 'ü€😀', '%41&=?#/', '"\\', "!'()*~"]) {
  test(`HeaderPassword form-encodes ${text} before Basic`, async t => {
    const { headers } = await tokenRequest(t, { clientID: text, secret: secretOf(`${text}s`) });
    const parts = basicOf(headers.authorization);
    assert.equal(parts.length, 2);
    const decode = (part = '') => new URLSearchParams(`x=${part}`).get('x');
    assert.deepEqual(parts.map(decode), [text, `${text}s`]);
  });
}

test('HeaderPassword leaves letters, digits, - _ and . as they are: providers that do not decode understand them', async t => {
  const { headers } = await tokenRequest(t, {
    clientID: 'my-client_1.app',
    secret: secretOf('s-e_c.r'),
  });
  assert.deepEqual(basicOf(headers.authorization), ['my-client_1.app', 's-e_c.r']);
});

test('BodyPassword: client_id and client_secret in the body, no Authorization', async t => {
  const secret = secretOf('s:ü&=+ %');
  const { form, headers } = await tokenRequest(t, {
    clientAuthentication: { method: 'BodyPassword' },
    secret,
  });
  assert.equal(headers.authorization, undefined);
  assert.deepEqual([form.get('client_id'), form.get('client_secret')], ['client', 's:ü&=+ %']);
});

test('scope is sent sorted, once each', async t => {
  assert.equal((await tokenRequest(t, {}, ['b', 'a', 'b'])).form.get('scope'), 'a b');
});

test('without scope none is sent', async t => {
  assert.equal((await tokenRequest(t, {})).form.has('scope'), false);
});

const PEM = { format: 'pem', type: 'pkcs8' } as const;

function keyFor(method: SigningMethod): {
  readonly secret: string;
  readonly verifier: KeyObject | Uint8Array;
} {
  if (method.startsWith('HS'))
    return { secret: 'short', verifier: new TextEncoder().encode('short') };
  const curve = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }[method as string];
  const { privateKey, publicKey } =
    curve === undefined ? rsa : generateKeyPairSync('ec', { namedCurve: curve });
  return { secret: privateKey.export(PEM).toString(), verifier: publicKey };
}

function asserting(t: TestContext, changes: Partial<AssertionSettings> = {}, secret?: string) {
  const jwtAssertion = assertionSettings(changes);
  const { secret: fitting } = keyFor(jwtAssertion.signingMethod);
  const clientAuthentication = { method: 'JWTAssertion', jwtAssertion } as const;
  return tokenRequest(t, { clientAuthentication, secret: secretOf(secret ?? fitting) });
}

for (const signingMethod of SIGNING_METHODS) {
  test(`JWTAssertion signs with ${signingMethod}`, async t => {
    const { secret, verifier } = keyFor(signingMethod);
    const { form } = await asserting(t, { signingMethod }, secret);
    const { protectedHeader } = await jwtVerify(form.get('client_assertion') ?? '', verifier, {
      algorithms: [signingMethod],
    });
    assert.deepEqual(protectedHeader, { typ: 'JWT', alg: signingMethod });
  });
}

test('JWTAssertion by default has iss, sub, aud, exp and jti only, and sends no client_id', async t => {
  const { form, headers } = await asserting(t);
  const { exp, jti, ...claims } = decodeJwt(form.get('client_assertion') ?? '');
  assert.deepEqual(claims, { iss: 'client', sub: 'client', aud: `${hostile.issuer}/token` });
  assert.ok(exp !== undefined && Math.abs(exp - Date.now() / 1_000 - 60) < 5);
  assert.match(String(jti), /^[\w-]{36}$/);
  assert.equal(
    form.get('client_assertion_type'),
    'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  );
  assert.deepEqual(
    [form.has('client_id'), form.has('client_secret'), headers.authorization],
    [false, false, undefined],
  );
});

test('every assertion has its own jti', async t => {
  const jwtAssertion = assertionSettings({ signingMethod: 'HS256' });
  const provider = openTestProvider(t, hostile, {
    clientAuthentication: { method: 'JWTAssertion', jwtAssertion },
  });
  for (let n = 0; n < 3; n += 1)
    await provider.password({ username: 'a', password: 'p', scope: [] }, soon());
  const ids = hostile
    .asked('token')
    .map(({ form }) => decodeJwt(form.get('client_assertion') ?? '').jti);
  assert.equal(new Set(ids).size, 3);
});

test('setClientID also sends client_id', async t => {
  assert.equal((await asserting(t, { setClientID: true })).form.get('client_id'), 'client');
});

test('audience, lifetime, setIAT, setNBF and nbfSafetyMargin are in the claims', async t => {
  const changes = {
    audience: 'urn:aud',
    lifetime: 90_000,
    setIAT: true,
    setNBF: true,
    nbfSafetyMargin: 30_000,
  };
  const { form } = await asserting(t, changes);
  const { aud, exp = 0, iat = 0, nbf = 0 } = decodeJwt(form.get('client_assertion') ?? '');
  assert.deepEqual([aud, exp - iat, iat - nbf], ['urn:aud', 90, 30]);
});

test('otherClaims and otherHeaderParameters are added, and replace none of ours', async t => {
  const { form } = await asserting(t, {
    otherClaims: { tenant: { id: 7 }, iss: 'evil', exp: 1, nbf: 1, iat: 1 },
    otherHeaderParameters: {
      kid: 'k1',
      typ: 'client-authentication+jwt',
      alg: 'none',
      crit: ['x'],
      b64: false,
    },
  });
  const token = form.get('client_assertion') ?? '';
  assert.deepEqual(decodeProtectedHeader(token), {
    typ: 'client-authentication+jwt',
    kid: 'k1',
    alg: 'RS256',
  });
  const claims = decodeJwt(token);
  assert.deepEqual(
    [claims.tenant, claims.iss, claims.nbf, claims.iat],
    [{ id: 7 }, 'client', undefined, undefined],
  );
  assert.notEqual(claims.exp, 1);
});

for (const [title, changes, kid] of [
  ['its own `kid`', {}, 'of the key'],
  ['the `kid` of the Filter', { kid: 'of the Filter' }, 'of the Filter'],
  ['the `kid` of otherHeaderParameters', { otherHeaderParameters: { kid: 'other' } }, 'other'],
] as const) {
  test(`a secret that is a JWK signs, and is named by ${title}`, async t => {
    const jwk = { ...rsa.privateKey.export({ format: 'jwk' }), kid: 'of the key' };
    const { form } = await asserting(t, changes, JSON.stringify(jwk));
    const token = form.get('client_assertion') ?? '';
    await jwtVerify(token, rsa.publicKey);
    assert.equal(decodeProtectedHeader(token).kid, kid);
  });
}

test('a secret in PEM is named by the `kid` of the Filter, and by none without', async t => {
  const kidOf = async (changes: Partial<AssertionSettings>) => {
    hostile.reset();
    const { form } = await asserting(t, changes);
    return decodeProtectedHeader(form.get('client_assertion') ?? '').kid;
  };
  assert.equal(await kidOf({ kid: '2026-1' }), '2026-1');
  assert.equal(await kidOf({}), undefined);
});

test('an RSA key in PKCS #1 and an EC key in SEC 1 sign too', async t => {
  await asserting(t, {}, rsa.privateKey.export({ format: 'pem', type: 'pkcs1' }).toString());
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await asserting(
    t,
    { signingMethod: 'ES256' },
    privateKey.export({ format: 'pem', type: 'sec1' }).toString(),
  );
  assert.equal(hostile.asked('token').length, 2);
});

test('bytes that are no text sign with HS256', async t => {
  const bytes = new Uint8Array([0, 255, 10, 13, 128]);
  const jwtAssertion = assertionSettings({ signingMethod: 'HS256' });
  const { form } = await tokenRequest(t, {
    clientAuthentication: { method: 'JWTAssertion', jwtAssertion },
    secret: new SecretValue(bytes),
  });
  await jwtVerify(form.get('client_assertion') ?? '', bytes);
});

test('a secret that does not fit signingMethod is refused when the provider is opened, and not shown', () => {
  for (const signingMethod of ['RS256', 'PS512', 'ES384'] as const) {
    const jwtAssertion = assertionSettings({ signingMethod });
    const settings = providerSettings('https://idp.test', {
      clientAuthentication: { method: 'JWTAssertion', jwtAssertion },
      secret: secretOf('not a key'),
    });
    const open = () => openProvider(settings, { now: Date.now, id: () => '' });
    assert.throws(
      open,
      error => error instanceof TypeError && !`${error.stack}`.includes('not a key'),
    );
  }
});

/** The token request of client credentials with what a request brings. */
async function broughtRequest(
  t: TestContext,
  method: ProviderSettings['clientAuthentication'],
  credentials: Parameters<
    ReturnType<typeof openTestProvider>['clientCredentials']
  >[0]['credentials'],
) {
  const provider = openTestProvider(t, hostile, {
    clientAuthentication: method,
    clientID: undefined,
    secret: undefined,
  });
  await provider.clientCredentials({ credentials, scope: ['b', 'a'] }, soon());
  const [request] = hostile.asked('token');
  assert.ok(request);
  return request;
}

test('ClientCredentials: a request’s own client by Basic', async t => {
  const credentials = { kind: 'password', clientID: 'machine', secret: 'own:secret' } as const;
  const { form, headers } = await broughtRequest(t, { method: 'HeaderPassword' }, credentials);
  assert.deepEqual(basicOf(headers.authorization), ['machine', 'own%3Asecret']);
  assert.deepEqual(
    [...form],
    [
      ['scope', 'a b'],
      ['grant_type', 'client_credentials'],
    ],
  );
});

test('ClientCredentials: a request’s own client in the body', async t => {
  const credentials = { kind: 'password', clientID: 'machine', secret: 'own' } as const;
  const { form } = await broughtRequest(t, { method: 'BodyPassword' }, credentials);
  assert.deepEqual([form.get('client_id'), form.get('client_secret')], ['machine', 'own']);
});

test('ClientCredentials: an assertion goes unchanged, alone', async t => {
  const method = { method: 'JWTAssertion', jwtAssertion: assertionSettings() } as const;
  const { form } = await broughtRequest(t, method, { kind: 'assertion', assertion: 'a.b.c' });
  assert.deepEqual([form.get('client_assertion'), form.has('client_id')], ['a.b.c', false]);
});

test('ClientCredentials: with an assertion client_id goes when it is given', async t => {
  const method = { method: 'JWTAssertion', jwtAssertion: assertionSettings() } as const;
  const second = await broughtRequest(t, method, {
    kind: 'assertion',
    assertion: 'a.b.c',
    clientID: 'machine',
  });
  assert.equal(second.form.get('client_id'), 'machine');
});

test('ClientCredentials: credentials of another method are a mistake of the caller, and nothing is sent', async t => {
  const assertion = { kind: 'assertion', assertion: 'a.b.c' } as const;
  await assert.rejects(broughtRequest(t, { method: 'HeaderPassword' }, assertion), TypeError);
  assert.equal(hostile.asked('token').length, 0);
});

test('without a client of its own a Filter can neither log in nor use passwords', async t => {
  const provider = openTestProvider(t, hostile, { clientID: undefined, secret: undefined });
  await assert.rejects(
    provider.password({ username: 'a', password: 'p', scope: [] }, soon()),
    TypeError,
  );
  assert.equal(hostile.asked('token').length, 0);
});
