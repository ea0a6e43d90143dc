import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFailure, type Failure } from './failure.ts';

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
  ['Secret is not supplied by SDS', /Look at the Problems of the TLSContext/],
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

const MOST_FAIL = { healthy: 1, members: 4 };

const WORDS: readonly [failure: Failure, words: string][] = [
  [
    { kind: 'some connect', address: 'a:1', reason: 'refused', few: MOST_FAIL },
    'a:1 accepts no connection (refused). 3 of 4 instances fail. Look at each. Until then all instances get requests',
  ],
  [
    { kind: 'unhealthy', by: 'checks' },
    'no instance passes its health checks. Look at the service, and at its `health_checks`. Until then all instances get requests',
  ],
  [
    { kind: 'unhealthy', by: 'checks', few: MOST_FAIL },
    '3 of 4 instances fail their health checks. Look at the service, and at its `health_checks`. Until then all instances get requests',
  ],
  [
    { kind: 'unhealthy', by: 'requests', few: MOST_FAIL },
    '3 of 4 instances failed several requests in a row. Look at the log of the service. Until then all instances get requests',
  ],
  [
    {
      kind: 'unknown',
      reason: 'DNS has no address for "a.invalid" of "a" in the instances file f',
    },
    'DNS has no address for "a.invalid" of "a" in the instances file f. Correct the name, or add it to DNS. Until then requests get 503',
  ],
  [
    { kind: 'broken', address: 'a:1', reason: 'reset', isTls: false },
    'a:1 closes the connection or answers no HTTP (reset). Does it speak https? Then write `https://` in `service`. Otherwise correct the port. Until then requests get 502 or 503',
  ],
  [
    { kind: 'broken', address: 'a:1', reason: 'reset{protocol_error}', isTls: false },
    'a:1 closes the connection or answers no HTTP (reset{protocol_error}). Does it speak https? Then write `https://` in `service`. Otherwise correct the port, or its answer: over 100 header fields, very large ones, wrong names, and two lengths of a body are rejected. Until then requests get 502 or 503',
  ],
  [
    { kind: 'broken', address: 'a:1', reason: 'reset{protocol_error}', isTls: true },
    'a:1 closes the connection or answers no HTTP (reset{protocol_error}). Look at the log of the service, or correct the port, or its answer: over 100 header fields, very large ones, wrong names, and two lengths of a body are rejected. Until then requests get 502 or 503',
  ],
];

for (const [failure, words] of WORDS)
  test(`says: ${words}`, () => assert.equal(describeFailure(failure), words));
