import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { test } from 'node:test';
import { SecretValue } from '#resources/words/secret-value.ts';
import { cutLineBreak } from './client-secret.ts';
import { SIGNING_METHODS, signingFault } from './signing-method.ts';

const secretOf = (text: string) => new SecretValue(new TextEncoder().encode(text));
const pem = (key: KeyObject, type: 'pkcs1' | 'pkcs8' | 'sec1' | 'spki') =>
  String(key.export({ type: type as 'pkcs8', format: 'pem' }));

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const rsaKey = pem(rsa.privateKey, 'pkcs8');
const ecKey = (namedCurve: string) =>
  pem(generateKeyPairSync('ec', { namedCurve }).privateKey, 'pkcs8');

const KEYS: Readonly<Record<string, string>> = {
  RSA: rsaKey,
  'P-256': ecKey('P-256'),
  'P-384': ecKey('P-384'),
  'P-521': ecKey('P-521'),
  bytes: '\u0000any',
};

const NEEDED: Readonly<Record<string, string>> = {
  RS: 'RSA',
  PS: 'RSA',
  ES256: 'P-256',
  ES384: 'P-384',
  ES512: 'P-521',
};

for (const method of SIGNING_METHODS) {
  const needed = NEEDED[method] ?? NEEDED[method.slice(0, 2)];
  test(`${method} signs with ${needed ?? 'any secret'}${needed === undefined ? '' : ' and with nothing else'}`, () => {
    for (const [name, key] of Object.entries(KEYS)) {
      const right = needed === undefined || name === needed;
      assert.equal(signingFault(secretOf(key), method) === undefined, right, name);
    }
  });
}

test('the older PEM forms of private keys are keys too', () => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  assert.equal(signingFault(secretOf(pem(rsa.privateKey, 'pkcs1')), 'RS256'), undefined);
  assert.equal(signingFault(secretOf(pem(ec, 'sec1')), 'ES256'), undefined);
});

const encrypted = rsa.privateKey.export({
  type: 'pkcs8',
  format: 'pem',
  cipher: 'aes-256-cbc',
  passphrase: 'x',
});

const FAULTS: readonly [what: string, key: string, method: 'RS256' | 'ES256', fault: string][] = [
  [
    'a word',
    'hunter2',
    'RS256',
    'RS256 needs an RSA private key in PEM, without a passphrase, or as a JWK, and this is none',
  ],
  [
    'a public key',
    pem(rsa.publicKey, 'spki'),
    'RS256',
    'RS256 needs an RSA private key in PEM, without a passphrase, or as a JWK, and this is none',
  ],
  [
    'an encrypted key',
    String(encrypted),
    'RS256',
    'RS256 needs an RSA private key in PEM, without a passphrase, or as a JWK, and this is none',
  ],
  [
    'a short key',
    pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey, 'pkcs8'),
    'RS256',
    'RS256 needs an RSA key of 2048 bits, and this has 1024',
  ],
  [
    'an Ed25519 key',
    pem(generateKeyPairSync('ed25519').privateKey, 'pkcs8'),
    'ES256',
    'ES256 needs an elliptic-curve private key, and this is one of type ed25519',
  ],
  [
    'an RSA key',
    rsaKey,
    'ES256',
    'ES256 needs an elliptic-curve private key, and this is one of type rsa',
  ],
  [
    'an elliptic-curve key',
    KEYS['P-256'] ?? '',
    'RS256',
    'RS256 needs an RSA private key, and this is one of type ec',
  ],
  [
    'another curve',
    KEYS['P-384'] ?? '',
    'ES256',
    'ES256 needs a key on P-256, and this is on secp384r1',
  ],
];

for (const [what, key, method, fault] of FAULTS) {
  test(`${what} does not sign ${method}`, () => {
    assert.equal(signingFault(secretOf(key), method), fault);
  });
}

const jwkOf = (key: KeyObject, more: object = {}) =>
  JSON.stringify({ ...key.export({ format: 'jwk' }), ...more });

test('a private key as a JWK signs by its own method', () => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const faultOf = (text: string, method: 'RS256' | 'PS256' | 'ES256') =>
    signingFault(secretOf(text), method);
  assert.equal(
    faultOf(jwkOf(rsa.privateKey, { kid: 'k', alg: 'RS256', use: 'sig' }), 'RS256'),
    undefined,
  );
  assert.equal(faultOf(`\n ${jwkOf(ec)}`, 'ES256'), undefined);
  assert.equal(
    faultOf(jwkOf(rsa.privateKey, { alg: 'RS256' }), 'PS256'),
    '`alg` of this JWK is not PS256',
  );
  assert.match(
    faultOf(jwkOf(rsa.privateKey, { use: 'enc' }), 'RS256') ?? '',
    /a key for signatures/,
  );
  for (const none of [
    jwkOf(rsa.publicKey),
    '{}',
    '{"kty":"oct","k":"AAAA"}',
    '{"kty":',
    '{"keys":[]}',
  ])
    assert.match(faultOf(none, 'RS256') ?? '', /or as a JWK, and this is none$/);
});

test('one line break at the end of a secret is cut, and nothing else', () => {
  const cut = (text: string) => {
    const result = cutLineBreak(secretOf(text));
    return [new TextDecoder().decode(result.secret.reveal()), result.cut];
  };
  assert.deepEqual(cut('a\n'), ['a', true]);
  assert.deepEqual(cut('a\r\n'), ['a', true]);
  assert.deepEqual(cut('a\n\n'), ['a\n', true]);
  assert.deepEqual(cut('\n'), ['', true]);
  assert.deepEqual(cut('a '), ['a ', false]);
  assert.deepEqual(cut(''), ['', false]);
});
