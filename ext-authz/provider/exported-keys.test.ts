import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { parseKeySet } from './key-set.ts';

const ALL = ['RS256', 'RS512', 'PS256', 'ES256', 'ES384', 'EdDSA', 'HS256'];

async function jwkOf(alg: string, options: object = {}): Promise<JWK> {
  const { publicKey } = await generateKeyPair(alg, { extractable: true, ...options });
  return exportJWK(publicKey);
}

async function exported(keys: readonly object[], algorithms: readonly string[] = ALL) {
  const texts = await (await parseKeySet({ keys }, 'idp')).exported(algorithms);
  return texts.map(text => JSON.parse(text) as JWK);
}

const named = (keys: readonly JWK[]) => keys.map(({ alg, kid }) => `${kid} ${alg}`);

test('a key without algorithm is exported once for each that it fits', async () => {
  const rsa = await jwkOf('RS256');
  const curve = await jwkOf('ES256');
  const keys = await exported([
    { ...rsa, kid: 'a' },
    { ...curve, kid: 'b' },
  ]);
  assert.deepEqual(named(keys), ['a RS256', 'a RS512', 'a PS256', 'b ES256']);
  assert.deepEqual(keys[0], { kty: 'RSA', n: rsa.n, e: rsa.e, kid: 'a', alg: 'RS256', use: 'sig' });
});

test('a key with an algorithm is exported for that alone, if it is accepted', async () => {
  const rsa = { ...(await jwkOf('RS256')), kid: 'a', alg: 'PS256' };
  assert.deepEqual(named(await exported([rsa])), ['a PS256']);
  assert.deepEqual(await exported([rsa], ['RS256']), []);
});

test('what no token is verified by here is not exported', async () => {
  const rsa = await jwkOf('RS256');
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const short = { kty: 'RSA', e: 'AQAB', n: Buffer.alloc(128, 0xff).toString('base64url') };
  const odd = [
    rsa,
    { ...rsa, kid: '' },
    { ...rsa, kid: 7 },
    { ...rsa, kid: 'enc', use: 'enc' },
    { ...rsa, kid: 'sign', key_ops: ['sign'] },
    { ...short, kid: 'short' },
    { kty: 'oct', k: 'c2VjcmV0', kid: 'secret', alg: 'HS256' },
    { ...(await jwkOf('EdDSA')), kid: 'ed' },
    { kty: 'RSA', kid: 'broken', n: '!', e: '' },
    { ...(await exportJWK(privateKey)), kid: 'private' },
  ];
  const keys = await exported(odd, ['RS256', 'HS256', 'EdDSA']);
  assert.ok(
    keys.every(({ kid }) => kid === 'private'),
    JSON.stringify(named(keys)),
  );
  assert.ok(keys.every(({ d, p }) => d === undefined && p === undefined));
});

test('two keys of one name are both exported, and very many are bounded', async () => {
  const [one, other] = [await jwkOf('RS256'), await jwkOf('RS256')];
  const twins = [one, other].map(key => ({ ...key, kid: 'a' }));
  assert.equal((await exported(twins, ['RS256'])).length, 2);
  const many = Array.from({ length: 100 }, (_, n) => ({ ...one, kid: `k${n}` }));
  assert.equal((await exported(many, ['RS256'])).length, 16);
});

test('a key with a very long name is not exported, and takes no other key with it', async () => {
  const rsa = await jwkOf('RS256');
  const lengths = [1_025, 900_000, 1_024];
  const keys = await exported(
    lengths.map(length => ({ ...rsa, kid: 'k'.repeat(length) })),
    ['RS256'],
  );
  assert.deepEqual(
    keys.map(({ kid }) => kid?.length),
    [1_024],
  );
});
