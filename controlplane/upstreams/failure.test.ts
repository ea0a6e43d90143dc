import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFailure } from './failure.ts';

const TLS: readonly [reason: string, remedy: RegExp][] = [
  ['wrong version number', /speaks no TLS there/],
  ['TLS_error:|268435703:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER', /speaks no TLS/],
  [
    "Hostname/IP does not match certificate's altnames: Host: a.test. is not in the cert's altnames: DNS:b.test",
    /must be for "a.test"/,
  ],
  ['verify cert failed: verify SAN list', /must be for "a.test"/],
  ['certificate has expired', /Renew the certificate/],
  ['unable to get local issuer certificate', /`ca_secret`/],
  ['self-signed certificate', /`ca_secret`/],
  ['CERTIFICATE_VERIFY_FAILED: verify cert failed: X509_verify_cert', /`ca_secret`/],
  ['TLSV13_ALERT_CERTIFICATE_REQUIRED', /certificate of the gateway/],
  ['', /Compare the TLS settings/],
  ['some other thing', /Compare the TLS settings/],
];

for (const [reason, remedy] of TLS) {
  test(`a handshake that ends with "${reason}" has a remedy`, () => {
    const said = describeFailure({
      kind: 'tls',
      address: '10.0.0.1:443',
      subject: 'a.test',
      reason,
    });
    assert.match(said, remedy);
    assert.ok(said.startsWith(`TLS with 10.0.0.1:443 fails (${reason}). `), said);
  });
}

test('what a peer writes is cut', () => {
  const said = describeFailure({ kind: 'connect', address: 'a:1', reason: 'x'.repeat(10_000) });
  assert.ok(said.length < 500);
});
