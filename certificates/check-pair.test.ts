import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { issueServer } from './authority/leaf.ts';
import { issueRoot } from './authority/root.ts';
import { checkKeyPair } from './check-pair.ts';

const DAY = { now: Date.now(), lifetimeMs: 86_400_000 };
const { certificate, key } = await issueServer(await issueRoot(DAY), ['a.test'], DAY);

/** DER of the identifier 1.2.840.10045.2.1, the kind of a key with an elliptic curve. */
const KIND = Buffer.from('06072a8648ce3d0201', 'hex');
/** DER of a UTCTime, before its 13 characters. A certificate begins at the first one. */
const TIME = Buffer.from('170d', 'hex');

/** Returns the certificate with this change of its DER. */
function changed(change: (der: Buffer) => void): string {
  const der = Buffer.from(new X509Certificate(certificate).raw);
  change(der);
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

test('a certificate whose key is of an unknown kind is an error in plain words', () => {
  const unknown = changed(der => der.writeUInt8(0x63, der.indexOf(KIND) + KIND.length - 1));
  assert.deepEqual(checkKeyPair(unknown, key, DAY.now), [
    { severity: 'error', message: 'the private key does not fit the certificate' },
  ]);
});

for (const [which, skipped] of [
  ['begins', 0],
  ['ends', TIME.length + 13],
] as const) {
  test(`a certificate that ${which} at no time is malformed`, () => {
    const timeless = changed(der => der.write('X'.repeat(13), der.indexOf(TIME) + skipped + 2));
    assert.deepEqual(checkKeyPair(timeless, key, DAY.now), [
      {
        severity: 'error',
        message: 'the certificate chain cannot be used: certificate 1 in it is malformed',
      },
    ]);
  });
}
