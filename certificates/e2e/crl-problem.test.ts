import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { checkTrustedCa } from '../check-trusted-ca.ts';
import { openssl } from '../testing/openssl.ts';

const CONFIGURATION = `[ca]
default_ca = test
[test]
database = index
default_md = sha256
default_crl_days = 1
`;

/** An authority's certificate and its list of revoked ones, PEM. */
function authority(t: TestContext): { certificate: string; crl: string } {
  const { run, read, write } = openssl(t);
  write('index', '');
  write('configuration', CONFIGURATION);
  run('req', '-x509', '-nodes', '-keyout', 'key', '-out', 'crt', '-subj', '/CN=test', '-days', '2');
  run(
    'ca',
    '-gencrl',
    '-config',
    'configuration',
    '-keyfile',
    'key',
    '-cert',
    'crt',
    '-out',
    'crl',
  );
  return { certificate: read('crt'), crl: read('crl') };
}

test('revocation lists among trusted authorities: whole ones count, one that is broken is an error', t => {
  const { certificate, crl } = authority(t);
  const lines = crl.trimEnd().split('\n');
  const found = (text: string) =>
    checkTrustedCa(certificate + text, Date.now()).map(({ message }) => message);
  assert.deepEqual(found(crl), []);
  assert.deepEqual(found(crl.replaceAll('\n', '\r\n')), []);
  const error = (what: string) => [`the trusted authorities cannot be used: ${what}`];
  const malformed = error('revocation list 2 in it is malformed');
  assert.deepEqual(found(crl + lines.toSpliced(2, 1).join('\n')), malformed);
  assert.deepEqual(found(`${crl}${lines[0]}\nnot base64!\n${lines.at(-1)}\n`), malformed);
  assert.deepEqual(found(`${crl}${lines[0]}\nMIAAAAAA\n${lines.at(-1)}\n`), malformed);
  const cut = error('a revocation list in it is cut off, or shares a line with another');
  assert.deepEqual(found(lines.slice(0, -1).join('\n')), cut);
  assert.deepEqual(found(crl.trimEnd() + crl), cut);
});

test('a revocation list that has ended is told of, since Envoy refuses every client then', t => {
  const { certificate, crl } = authority(t);
  const found = (hours: number) =>
    checkTrustedCa(certificate + crl, Date.now() + hours * 3_600_000).map(
      ({ message, severity }) => `${severity}: ${message}`,
    );
  assert.deepEqual(found(23), []);
  const [ended = '', ...others] = found(25);
  assert.match(
    ended,
    /^warning: revocation list 1 ended at [-0-9T:]+Z: until a newer one is here, Envoy refuses every/,
  );
  assert.deepEqual(others, []);
});
