import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { test } from 'node:test';
import { promised } from '#envoy/e2e/promised.ts';
import { issueIdentity, issueServer } from '../authority/leaf.ts';
import { issueRoot } from '../authority/root.ts';
import { checkKeyPair } from '../check-pair.ts';
import { checkTrustedCa } from '../check-trusted-ca.ts';
import { openssl, selfSigned } from '../testing/openssl.ts';

const NOW = Date.now();
/** Certificates of openssl begin when they are made. */
const LATER = NOW + 3_600_000;
const DAY = { now: NOW, lifetimeMs: 86_400_000 };
const ROOT = await issueRoot(DAY);
const EDGE = { trustDomain: 'gateway.internal', group: 'edge' };
const PAIR = await issueIdentity(ROOT, EDGE, DAY);
const OTHER = await issueServer(ROOT, ['a.test'], DAY);

function messages(certificate: string, key: string, now = NOW): readonly string[] {
  return checkKeyPair(certificate, key, now).map(
    ({ severity, message }) => `${severity}: ${message}`,
  );
}

test('a pair of the authority has no findings, also with its root behind it and text between', () => {
  assert.deepEqual(messages(PAIR.certificate, PAIR.key), []);
  assert.deepEqual(
    messages(`subject=x\n${PAIR.certificate}\nissuer\n${ROOT.certificate}`, PAIR.key),
    [],
  );
});

const MALFORMED: readonly (readonly [
  what: string,
  certificate: string,
  key: string,
  message: RegExp,
])[] = [
  [
    'no certificate',
    '',
    PAIR.key,
    /^error: the certificate chain cannot be used: it holds no certificate in PEM/,
  ],
  ['a cut certificate', PAIR.certificate.slice(0, 300), PAIR.key, /a certificate in it is cut off/],
  [
    'a damaged certificate',
    PAIR.certificate.replace('\nMII', '\nMMM'),
    PAIR.key,
    /certificate 1 in it is malformed/,
  ],
  ['a chain without end', PAIR.certificate.repeat(17), PAIR.key, /holds more than 16 certificates/],
  [
    'much text',
    `${PAIR.certificate}${'x'.repeat(200_000)}`,
    PAIR.key,
    /has more than 131072 bytes/,
  ],
  [
    'no key',
    PAIR.certificate,
    PAIR.certificate,
    /the private key cannot be used: it holds no private key in PEM/,
  ],
  [
    'a damaged key',
    PAIR.certificate,
    PAIR.key.replace('\nMI', '\nAA'),
    /the private key cannot be used: it is malformed/,
  ],
  [
    'a byte order mark before the key',
    PAIR.certificate,
    `\ufeff${PAIR.key}`,
    /^error: the private key cannot be used: something comes before it on its first line/,
  ],
  [
    'another key',
    PAIR.certificate,
    OTHER.key,
    /^error: the private key does not fit the certificate$/,
  ],
  [
    'the root first',
    ROOT.certificate + PAIR.certificate,
    PAIR.key,
    /fits certificate 2 of the chain: put that one first/,
  ],
];

for (const [what, certificate, key, message] of MALFORMED) {
  test(`${what} is an error in plain words, without any of the key`, () => {
    const found = messages(certificate, key);
    assert.match(found[0] ?? '', message);
    for (const line of key.split('\n').slice(1, -2)) assert.ok(!found.join().includes(line));
  });
}

test('a certificate counts from its first to its last second', () => {
  assert.match(
    messages(PAIR.certificate, PAIR.key, NOW + DAY.lifetimeMs).join(),
    /^warning: the certificate ends at [^,]*$/,
  );
  assert.match(
    messages(PAIR.certificate, PAIR.key, NOW + DAY.lifetimeMs + 2_000)[0] ?? '',
    /^error: the certificate expired at \d{4}-/,
  );
  assert.match(
    messages(PAIR.certificate, PAIR.key, NOW - 120_000)[0] ?? '',
    /^error: the certificate is not valid before \d{4}-/,
  );
});

test('an encrypted key is refused, in its new form and its old one', () => {
  const encrypt = (type: 'pkcs8' | 'sec1') =>
    createPrivateKey(PAIR.key).export({
      type,
      format: 'pem',
      cipher: 'aes-128-cbc',
      passphrase: 'x',
    }) as string;
  for (const type of ['pkcs8', 'sec1'] as const) {
    assert.match(
      messages(PAIR.certificate, encrypt(type))[0] ?? '',
      /it is encrypted: give it without a passphrase/,
    );
  }
});

test('an RSA key wants 2048 bits', t => {
  const small = selfSigned(
    t,
    '-newkey',
    'rsa:1024',
    '-addext',
    'basicConstraints=critical,CA:FALSE',
  );
  assert.deepEqual(messages(small.certificate, small.key, LATER), [
    'error: the RSA key has 1024 bits: want 2048 or more',
  ]);
  const enough = selfSigned(
    t,
    '-newkey',
    'rsa:2048',
    '-addext',
    'basicConstraints=critical,CA:FALSE',
  );
  assert.deepEqual(messages(enough.certificate, enough.key, LATER), []);
});

test('a key of a kind that Envoy or browsers do not take is named', t => {
  const ed25519 = selfSigned(t, '-newkey', 'ed25519');
  assert.match(
    messages(ed25519.certificate, ed25519.key, LATER)[0] ?? '',
    /^warning: the key is of kind ed25519, which Envoy accepts/,
  );
  const curve = selfSigned(t, '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp256k1');
  assert.match(
    messages(curve.certificate, curve.key, LATER)[0] ?? '',
    /^error: the key is of kind ec secp256k1, which Envoy/,
  );
});

test('a curve that is written out is refused, as Envoy does, though it is a known one', t => {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  const noAuthority = ['-addext', 'basicConstraints=critical,CA:FALSE'];
  const explicit = selfSigned(t, ...curve, '-pkeyopt', 'ec_param_enc:explicit', ...noAuthority);
  assert.deepEqual(
    messages(explicit.certificate, explicit.key, LATER).map(message => message.slice(0, 45)),
    ['error: the certificate writes its curve out, w'.slice(0, 45)],
  );
  const named = selfSigned(t, ...curve, ...noAuthority);
  assert.deepEqual(messages(named.certificate, named.key, LATER), []);
});

for (const critical of ['critical,', '']) {
  test(`an RSA certificate that may not sign has a warning (keyUsage ${critical || 'not critical'})`, t => {
    const leaf = ['-newkey', 'rsa:2048', '-addext', 'basicConstraints=CA:FALSE', '-addext'];
    const bad = selfSigned(t, ...leaf, `keyUsage=${critical}keyEncipherment`);
    assert.match(
      messages(bad.certificate, bad.key, LATER).join(),
      /^warning: its keyUsage lacks digitalSignature/,
    );
    const good = selfSigned(t, ...leaf, `keyUsage=${critical}keyEncipherment,digitalSignature`);
    assert.deepEqual(messages(good.certificate, good.key, LATER), []);
  });
}

const EC = [
  '-newkey',
  'ec',
  '-pkeyopt',
  'ec_paramgen_curve:prime256v1',
  '-addext',
  'basicConstraints=CA:FALSE',
];

for (const [what, extension, finding] of [
  [
    'keyUsage without digitalSignature',
    'keyUsage=keyAgreement',
    /^error: its keyUsage lacks digitalSignature/,
  ],
  [
    'must staple',
    'tlsfeature=status_request',
    /^error: the certificate is to be served with an OCSP response/,
  ],
  [
    'must staple, critical',
    'tlsfeature=critical,status_request',
    /^error: the certificate is to be served/,
  ],
  ['status_request_v2 alone', 'tlsfeature=status_request_v2', /^$/],
] as const) {
  test(`an ECDSA certificate with an extension is judged as Envoy and clients do: ${what}`, t => {
    const { certificate, key } = selfSigned(t, ...EC, '-addext', extension);
    assert.match(messages(certificate, key, LATER).join(), finding);
  });
}

for (const [usages, purpose, finding] of [
  ['clientAuth', 'server', /^its extendedKeyUsage lacks serverAuth, so clients will refuse it$/],
  ['clientAuth', 'client', /^$/],
  ['clientAuth', undefined, /^$/],
  ['serverAuth', 'client', /^its extendedKeyUsage lacks clientAuth, so servers will refuse it$/],
  ['serverAuth', 'server', /^$/],
  ['emailProtection', undefined, /^its extendedKeyUsage has neither serverAuth nor clientAuth/],
  ['clientAuth,serverAuth', 'server', /^$/],
  ['2.5.29.37.0', 'client', /^$/],
] as const) {
  test(`a certificate for ${usages} is judged as that of a ${purpose ?? 'server or client'}`, t => {
    const { certificate, key } = selfSigned(t, ...EC, '-addext', `extendedKeyUsage=${usages}`);
    const findings = checkKeyPair(certificate, key, LATER, purpose);
    assert.match(findings.map(({ message }) => message).join(), finding);
  });
}

test('what is odd but works has a warning', () => {
  assert.match(
    messages(ROOT.certificate, ROOT.key).join(),
    /^warning: the certificate is that of an authority/,
  );
  assert.match(
    messages(PAIR.certificate + OTHER.certificate, PAIR.key).join(),
    /^warning: certificate 1 of the chain is not issued by certificate 2/,
  );
  assert.match(
    messages(PAIR.certificate + PAIR.key, PAIR.key).join(),
    /^warning: the certificate chain also holds a private key/,
  );
});

test('trusted authorities: one that counts is enough, none that does is an error', async () => {
  const old = await issueRoot({ now: NOW - 10 * DAY.lifetimeMs, lifetimeMs: DAY.lifetimeMs });
  const found = (pem: string) => checkTrustedCa(pem, NOW).map(({ severity }) => severity);
  assert.deepEqual(found(ROOT.certificate), []);
  assert.deepEqual(found(ROOT.certificate + old.certificate), ['warning']);
  assert.deepEqual(found(old.certificate), ['error']);
  assert.deepEqual(found(PAIR.certificate), ['warning']);
  assert.deepEqual(found('no certificate'), ['error']);
});

test('a PEM text of a hostile form is judged at once', () => {
  const start = performance.now();
  messages('-----BEGIN CERTIFICATE-----'.repeat(4_000), PAIR.key);
  messages(PAIR.certificate, '-----BEGIN '.repeat(2_900));
  assert.ok(performance.now() - start < promised(1_000));
});

test('openssl verifies what the authority issues, strictly', t => {
  const { run, write } = openssl(t);
  write('root', ROOT.certificate);
  write('edge', PAIR.certificate);
  write('server', OTHER.certificate);
  assert.match(
    run('verify', '-x509_strict', '-CAfile', 'root', 'edge', 'server'),
    /edge: OK\nserver: OK/,
  );
  assert.match(
    run('verify', '-x509_strict', '-purpose', 'sslclient', '-CAfile', 'root', 'edge'),
    /OK/,
  );
  assert.throws(() => run('verify', '-purpose', 'sslclient', '-CAfile', 'root', 'server'));
  assert.match(
    run('x509', '-in', 'root', '-noout', '-ext', 'basicConstraints'),
    /critical\s+CA:TRUE, pathlen:0/,
  );
  assert.match(
    run('x509', '-in', 'edge', '-noout', '-ext', 'subjectAltName'),
    /URI:spiffe:\/\/gateway\.internal\/group\/edge/,
  );
});

test('a certificate that is about to end is told of before it does', async () => {
  const root = await issueRoot({ now: NOW, lifetimeMs: 400 * DAY.lifetimeMs });
  const ending = async (days: number, left: number) => {
    const lifetimeMs = days * DAY.lifetimeMs;
    const { certificate, key } = await issueServer(root, ['a.test'], { now: NOW, lifetimeMs });
    return messages(certificate, key, NOW + lifetimeMs - left * DAY.lifetimeMs);
  };
  assert.deepEqual(
    [await ending(90, 15), await ending(365, 15), await ending(1, 0.2)],
    [[], [], []],
  );
  for (const soon of [await ending(90, 13), await ending(365, 13), await ending(1, 0.1)]) {
    assert.equal(soon.length, 1);
    assert.match(
      soon[0] ?? '',
      /^warning: the certificate ends at [-0-9T:]+Z: it should have been renewed by now$/,
    );
  }
});
