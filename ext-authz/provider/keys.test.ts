import assert from 'node:assert/strict';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import { CompactSign, type CryptoKey, calculateJwkThumbprint, generateSecret, SignJWT } from 'jose';
import {
  type HostileProvider,
  makeSigningKey,
  type SigningKey,
  startHostileProvider,
} from '#ext-authz/testing/hostile-provider.ts';
import { openTestProvider, providerError } from '#ext-authz/testing/open-test-provider.ts';
import { soon } from '#ext-authz/testing/soon.ts';
import { parseKeySet } from './key-set.ts';
import { ASYMMETRIC_ALGORITHMS } from './signed-jwt.ts';

let hostile: HostileProvider;
let second: SigningKey;
let foreign: SigningKey;
before(async () => {
  const started = [
    startHostileProvider(),
    makeSigningKey('second'),
    makeSigningKey('foreign'),
  ] as const;
  [hostile, second, foreign] = await Promise.all(started);
});
after(() => hostile.close());
beforeEach(() => hostile.reset());

const publish = (...keys: readonly object[]) => hostile.behave('jwks', () => ({ body: { keys } }));
const asked = () => hostile.asked('jwks').length;
const sign = (key: SigningKey, header: object = { kid: key.kid }) =>
  new SignJWT({ sub: 'alice' })
    .setProtectedHeader({ alg: 'RS256', ...header })
    .sign(key.privateKey);

type Verifier = Pick<ReturnType<typeof openTestProvider>, 'verify'>;
async function verdict(
  provider: Verifier,
  jwt: string,
  algorithms: readonly string[] = ASYMMETRIC_ALGORITHMS,
) {
  const result = await provider.verify(jwt, algorithms, soon());
  return typeof result === 'string' ? result : 'verified';
}

test('a JWT of the provider is verified, expired or not, and its key is named', async t => {
  const jwt = await new SignJWT({ exp: 1, a: [1] })
    .setProtectedHeader({ alg: 'RS256', kid: 'first' })
    .sign(hostile.key.privateKey);
  const provider = openTestProvider(t, hostile);
  const result = await provider.verify(jwt, ['RS256'], soon());
  assert.ok(typeof result !== 'string');
  assert.deepEqual(result.claims, { exp: 1, a: [1] });
  assert.equal(result.thumbprint, await calculateJwkThumbprint(hostile.key.publicJwk));
  assert.ok((await provider.keySet(soon())).has(result.thumbprint));
});

for (const type of ['text/plain', 'application/jwk-set+json', 'application/octet-stream', '']) {
  test(`a key set is read that is served as ${type || 'nothing'}`, async t => {
    const answer = { headers: { 'content-type': type }, body: { keys: [hostile.key.publicJwk] } };
    hostile.behave('jwks', () => answer);
    assert.equal(await verdict(openTestProvider(t, hostile), await sign(hostile.key)), 'verified');
  });
}

test('a key set that is nested too deep is refused, and says so', async t => {
  const key = JSON.stringify(hostile.key.publicJwk).slice(0, -1);
  const body = `{"keys":[${key},"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}]}`;
  hostile.behave('jwks', () => ({ body }));
  await assert.rejects(
    verdict(openTestProvider(t, hostile), await sign(hostile.key)),
    providerError('invalid_answer', /the key set http.* is nested more than 200 deep/),
  );
});

test('a key set with more than 1,000 keys is refused, and says so', async t => {
  const { publicJwk } = hostile.key;
  publish(publicJwk, ...Array.from({ length: 999 }, (_, n) => ({ ...publicJwk, kid: `${n}` })));
  assert.equal(await verdict(openTestProvider(t, hostile), await sign(hostile.key)), 'verified');
  publish(publicJwk, ...Array.from({ length: 1_000 }, (_, n) => ({ kty: 'RSA', kid: `${n}` })));
  await assert.rejects(
    verdict(openTestProvider(t, hostile), await sign(hostile.key)),
    providerError('invalid_answer', 'has 1001 keys, at most 1000 are read'),
  );
});

test('a flood of unknown kids asks for the keys five times, then once in 5 s', async t => {
  const provider = openTestProvider(t, hostile);
  assert.equal(await verdict(provider, await sign(hostile.key)), 'verified');
  const flood = async (name: string) => {
    for (let n = 0; n < 20; n += 1)
      assert.equal(
        await verdict(provider, await sign(foreign, { kid: `${name} ${n}` })),
        'unknown_key',
      );
  };
  await flood('one');
  assert.equal(asked(), 1 + 5);
  provider.advance(4_999);
  await flood('two');
  assert.equal(asked(), 1 + 5);
  provider.advance(1);
  await flood('three');
  assert.equal(asked(), 1 + 6);
  assert.equal(hostile.asked('jwks').at(-1)?.headers['cache-control'], 'no-cache');
});

test('50 tokens with unknown kids at once share one fetch', async t => {
  const provider = openTestProvider(t, hostile);
  assert.equal(await verdict(provider, await sign(hostile.key)), 'verified');
  const flood = await Promise.all(
    Array.from({ length: 50 }, (_, n) => sign(foreign, { kid: `unknown ${n}` })),
  );
  const verdicts = await Promise.all(flood.map(jwt => verdict(provider, jwt)));
  assert.deepEqual([...new Set(verdicts)], ['unknown_key']);
  assert.equal(asked(), 2);
});

for (const [title, headerOf] of [
  ['with kids', (kid: string) => ({ kid })],
  ['without kids', () => ({})],
] as const) {
  test(`three new keys in a row are found at once, ${title}`, async t => {
    const keys = await Promise.all(['one', 'two', 'three'].map(kid => makeSigningKey(kid)));
    const shown = ({ kid, publicJwk: { kid: _, ...jwk } }: SigningKey) => ({
      ...jwk,
      ...headerOf(kid),
    });
    const provider = openTestProvider(t, hostile);
    publish(shown(hostile.key));
    await verdict(provider, await sign(hostile.key, headerOf('first')));
    for (const key of keys) {
      publish(shown(key));
      assert.equal(
        await verdict(provider, await sign(key, headerOf(key.kid))),
        'verified',
        key.kid,
      );
    }
    assert.equal(asked(), 1 + keys.length);
  });
}

test('a client with the token of a withdrawn key keeps no other client from a new key', async t => {
  const provider = openTestProvider(t, hostile);
  await verdict(provider, await sign(hostile.key));
  const withdrawn = await sign(foreign);
  for (let n = 0; n < 30; n += 1) assert.equal(await verdict(provider, withdrawn), 'unknown_key');
  assert.equal(asked(), 2);
  publish(second.publicJwk);
  assert.equal(await verdict(provider, await sign(second)), 'verified');
});

test('a rotated key is found by its unknown kid', async t => {
  const provider = openTestProvider(t, hostile);
  await verdict(provider, await sign(hostile.key));
  publish(second.publicJwk);
  provider.advance(10_000);
  assert.equal(await verdict(provider, await sign(second)), 'verified');
});

test('a rotated key without kid is found by the signature that does not fit', async t => {
  const { kid, ...first } = hostile.key.publicJwk;
  const { kid: other, ...next } = second.publicJwk;
  publish(first);
  const provider = openTestProvider(t, hostile);
  assert.equal(await verdict(provider, await sign(hostile.key, {})), 'verified');
  publish(next);
  provider.advance(10_000);
  assert.equal(await verdict(provider, await sign(second, {})), 'verified');
});

test('a rotated key with the kid of the one before is found by the signature that does not fit', async t => {
  const provider = openTestProvider(t, hostile);
  assert.equal(await verdict(provider, await sign(hostile.key)), 'verified');
  publish({ ...second.publicJwk, kid: 'first' });
  assert.equal(await verdict(provider, await sign(second, { kid: 'first' })), 'verified');
  assert.equal(await verdict(provider, await sign(hostile.key)), 'signature');
});

test('wrong signatures by a known kid ask for the keys once in 10 s, and are wrong without them', async t => {
  const provider = openTestProvider(t, hostile);
  assert.equal(await verdict(provider, await sign(hostile.key)), 'verified');
  const forged = await sign(foreign, { kid: 'first' });
  for (let n = 0; n < 20; n += 1) assert.equal(await verdict(provider, forged), 'signature');
  assert.equal(asked(), 2);
  provider.advance(10_000);
  hostile.behave('jwks', () => 'hang up');
  for (let n = 0; n < 20; n += 1) assert.equal(await verdict(provider, forged), 'signature');
  assert.equal(asked(), 3);
  assert.equal(await verdict(provider, await sign(hostile.key)), 'verified');
});

test('keys that cannot be asked for again do not harm tokens of known keys', async t => {
  const provider = openTestProvider(t, hostile);
  await verdict(provider, await sign(hostile.key));
  hostile.behave('jwks', () => 'hang up');
  provider.advance(10_000);
  const unknown = await sign(foreign);
  await assert.rejects(verdict(provider, unknown), providerError('unreachable', 'the key set'));
  await assert.rejects(verdict(provider, unknown), providerError('unreachable'));
  assert.equal(await verdict(provider, await sign(hostile.key)), 'verified');
});

test('a mere look asks again for keys that were not available, though known ones may still be used', async t => {
  const provider = openTestProvider(t, hostile);
  const look = () => provider.look([], soon());
  await verdict(provider, await sign(hostile.key));
  await look();
  assert.equal(asked(), 1);
  hostile.behave('jwks', () => 'hang up');
  await assert.rejects(verdict(provider, await sign(foreign)), providerError('unreachable'));
  await assert.rejects(look(), providerError('unreachable'));
  assert.equal(asked(), 2);
  publish(hostile.key.publicJwk);
  provider.advance(1_000);
  await look();
  await look();
  assert.equal(asked(), 3);
});

test('a key that the provider has withdrawn is no longer in the set', async t => {
  publish(hostile.key.publicJwk, second.publicJwk);
  const provider = openTestProvider(t, hostile);
  const result = await provider.verify(await sign(hostile.key), ['RS256'], soon());
  assert.ok(typeof result !== 'string');
  const before = await provider.keySet(soon());
  publish(second.publicJwk);
  provider.advance(300_000);
  const now = await provider.keySet(soon());
  assert.ok(before.has(result.thumbprint));
  assert.ok(!now.has(result.thumbprint));
  assert.notEqual(now.epoch, before.epoch);
  assert.equal(provider.knownKeySet(), now);
});

test('the epoch does not depend on the order of the keys', async () => {
  const [one, two] = [hostile.key.publicJwk, second.publicJwk];
  const [a, b] = [
    await parseKeySet({ keys: [one, two] }, ''),
    await parseKeySet({ keys: [two, one] }, ''),
  ];
  assert.equal(a.epoch, b.epoch);
});

test('no key set is known before one was asked for', t =>
  assert.equal(openTestProvider(t, hostile).knownKeySet(), undefined));

test('two keys without kid are both tried', async t => {
  publish({ ...second.publicJwk, kid: undefined }, { ...hostile.key.publicJwk, kid: undefined });
  assert.equal(
    await verdict(openTestProvider(t, hostile), await sign(hostile.key, {})),
    'verified',
  );
});

test('keys of unknown kinds, broken keys and what is no key are passed over', async t => {
  publish(
    { kty: 'PQ', kid: 'first' },
    { kty: 'RSA', kid: 'first' },
    { kty: 'EC', crv: 'P-256', x: '!', y: 7 },
    hostile.key.publicJwk,
  );
  assert.equal(await verdict(openTestProvider(t, hostile), await sign(hostile.key)), 'verified');
  hostile.behave('jwks', () => ({ body: { keys: [null, 7, 'key', [], hostile.key.publicJwk] } }));
  assert.equal(await verdict(openTestProvider(t, hostile), await sign(hostile.key)), 'verified');
});

test('a symmetric key in the set signs nothing, even when HS256 were asked for', async t => {
  const secret = await generateSecret('HS256', { extractable: true });
  const k = Buffer.from(await crypto.subtle.exportKey('raw', asKey(secret))).toString('base64url');
  publish({ kty: 'oct', kid: 'shared', k, alg: 'HS256' });
  const jwt = await new SignJWT({})
    .setProtectedHeader({ alg: 'HS256', kid: 'shared' })
    .sign(secret);
  assert.equal(await verdict(openTestProvider(t, hostile), jwt), 'algorithm');
  assert.equal(await verdict(openTestProvider(t, hostile), jwt, ['HS256']), 'unknown_key');
});
function asKey(secret: CryptoKey | Uint8Array): CryptoKey {
  assert.ok(!(secret instanceof Uint8Array));
  return secret;
}

test('a symmetric key of the set is not counted among the keys', async () => {
  const set = await parseKeySet({ keys: [{ kty: 'oct', k: 'c2VjcmV0' }] }, '');
  assert.equal(set.has(await calculateJwkThumbprint({ kty: 'oct', k: 'c2VjcmV0' })), false);
});

test('a key for encryption, or for another algorithm, verifies nothing', async t => {
  for (const change of [{ use: 'enc' }, { alg: 'RS512' }, { key_ops: ['encrypt'] }]) {
    publish({ ...hostile.key.publicJwk, ...change });
    assert.equal(
      await verdict(openTestProvider(t, hostile), await sign(hostile.key)),
      'unknown_key',
    );
  }
});

test('an RSA key of 1,024 bits verifies nothing', async t => {
  const weak = await crypto.subtle.generateKey(
    {
      name: 'RSASSA-PKCS1-v1_5',
      modulusLength: 1024,
      publicExponent: new Uint8Array([1, 0, 1]),
      hash: 'SHA-256',
    },
    true,
    ['sign', 'verify'],
  );
  const jwk = await crypto.subtle.exportKey('jwk', weak.publicKey);
  publish({ ...jwk, kid: 'weak', use: 'sig', key_ops: undefined });
  const text = ['{"alg":"RS256","kid":"weak"}', '{}']
    .map(part => Buffer.from(part).toString('base64url'))
    .join('.');
  const signature = await crypto.subtle.sign(
    'RSASSA-PKCS1-v1_5',
    weak.privateKey,
    Buffer.from(text),
  );
  const jwt = `${text}.${Buffer.from(signature).toString('base64url')}`;
  assert.equal(await verdict(openTestProvider(t, hostile), jwt), 'unknown_key');
});

for (const [title, body] of [
  ['no keys', {}],
  ['keys that are no list', { keys: {} }],
  ['a list', []],
  ['null', 'null'],
] as const) {
  test(`a key set with ${title} is refused`, async t => {
    hostile.behave('jwks', () => ({ body }));
    await assert.rejects(
      openTestProvider(t, hostile).keySet(soon()),
      providerError('invalid_answer', 'key set'),
    );
  });
}

test('an empty key set verifies nothing', async t => {
  publish();
  assert.equal(await verdict(openTestProvider(t, hostile), await sign(hostile.key)), 'unknown_key');
});

test('a provider without jwks_uri has no keys', async t => {
  hostile.behave('discovery', () => ({ body: { ...hostile.discovery(), jwks_uri: undefined } }));
  await assert.rejects(
    openTestProvider(t, hostile).keySet(soon()),
    providerError('missing_endpoint', 'jwks_uri'),
  );
});

test('another jwks_uri means other keys', async t => {
  const other = await startHostileProvider();
  t.after(() => other.close());
  other.behave('jwks', () => ({ body: { keys: [second.publicJwk] } }));
  const provider = openTestProvider(t, hostile);
  assert.equal(await verdict(provider, await sign(second)), 'unknown_key');
  hostile.behave('discovery', () => ({
    body: { ...hostile.discovery(), jwks_uri: `${other.issuer}/jwks` },
  }));
  provider.advance(300_000);
  assert.equal(await verdict(provider, await sign(second)), 'verified');
});

test('a key that the token itself brings is not believed: jwk, jku, x5c', async t => {
  for (const header of [
    { jwk: foreign.publicJwk },
    { jku: 'https://evil.test/jwks' },
    { x5c: ['MIIB'] },
  ]) {
    const jwt = await sign(foreign, { kid: 'first', ...header });
    assert.equal(await verdict(openTestProvider(t, hostile), jwt), 'signature');
  }
});

async function malformed(t: TestContext, parts: readonly (string | Uint8Array)[]) {
  const jwt = parts.map(part => Buffer.from(part).toString('base64url')).join('.');
  return verdict(openTestProvider(t, hostile), jwt);
}

test('what is no signed JWT is malformed', async t => {
  assert.equal(await malformed(t, []), 'malformed');
  assert.equal(await malformed(t, ['{"alg":"RS256"}', '{}']), 'malformed');
  assert.equal(await malformed(t, ['{"alg":"RS256"', '{}', 'x']), 'malformed');
  assert.equal(await malformed(t, ['[]', '{}', 'x']), 'malformed');
  assert.equal(await malformed(t, ['{"alg":["RS256"]}', '{}', 'x']), 'malformed');
  assert.equal(await malformed(t, ['{"alg":"RS256","kid":7}', '{}', 'x']), 'malformed');
  assert.equal(
    await malformed(t, ['{"alg":"RS256","b64":false,"crit":["b64"]}', '{}', 'x']),
    'malformed',
  );
  assert.equal(
    await malformed(t, ['{"alg":"dir","enc":"A128GCM"}', '', 'iv', 'text', 'tag']),
    'malformed',
  );
  assert.equal(asked(), 0);
});

test('a payload that is no JSON object is malformed, though well signed', async t => {
  const provider = openTestProvider(t, hostile);
  for (const payload of ['[]', 'null', '"x"', '{', Buffer.from('7b2261223a22ff227d', 'hex')]) {
    const jws = await new CompactSign(Buffer.from(payload))
      .setProtectedHeader({ alg: 'RS256', kid: 'first' })
      .sign(hostile.key.privateKey);
    assert.equal(await verdict(provider, jws), 'malformed');
  }
});
