import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { testAuthority } from '#grpc/testing/test-authority.ts';
import { parseCertificates } from './pem.ts';

const [ONE, TWO] = [(await testAuthority()).ca.trim(), (await testAuthority()).ca.trim()];
const MOST = { bytes: 10_000, count: 2 };

function block(content: string): string {
  return `-----BEGIN OTHER-----\n${content}\n-----END OTHER-----\n`;
}

const MALFORMED = block('not base64!');

for (const [what, text, count] of [
  ['one certificate', `${ONE}\n`, 1],
  ['without a line break at its end', ONE, 1],
  ['two of them', `${ONE}\n${TWO}\n`, 2],
  ['with words around them', `# first\n${ONE}\nsecond:\n${TWO}\n`, 2],
  ['with the line breaks of Windows', `${ONE}\n${TWO}\n`.replaceAll('\n', '\r\n'), 2],
  ['with spaces at the ends of lines', `${ONE}\n${TWO}`.replaceAll('-----\n', '----- \t\n'), 2],
  ['among blocks of another kind', `${block('AAAA')}${ONE}\n${block('AAAA')}`, 1],
] as const) {
  test(`a text ${what} has ${count}, and OpenSSL agrees`, () => {
    const parsed = parseCertificates(text, MOST);
    assert.equal('certificates' in parsed && parsed.certificates.length, count);
    assert.doesNotThrow(() => new X509Certificate(text));
  });
}

for (const [what, text, error] of [
  ['joined without a line break', `${ONE}${TWO}`, /is cut off, or shares a line with another/],
  ['behind something on its line', `ca: ${ONE}`, /shares a line/],
  [
    'with the end of another line',
    `${ONE}\n${TWO.replace(/\n-----END/, '-----END')}`,
    /shares a line/,
  ],
  ['without its end', ONE.slice(0, -30), /is cut off/],
  ['too often', `${ONE}\n`.repeat(3), /more than 2 certificates/],
  ['behind a malformed block', `${MALFORMED}${ONE}`, /^something before certificate 1 in it is/],
  [
    'that is the second, behind one',
    `${ONE}\n${MALFORMED}${TWO}`,
    /^something before certificate 2 in it is malformed$/,
  ],
  [
    'before a malformed block',
    `${ONE}\n${MALFORMED}`,
    /^something after its last certificate is malformed$/,
  ],
  [
    'before a block without its end',
    `${ONE}\n${MALFORMED.slice(0, -30)}`,
    /^something after its last certificate is malformed$/,
  ],
] as const) {
  test(`a certificate ${what} is refused`, () => {
    const parsed = parseCertificates(text, MOST);
    assert.match('error' in parsed ? parsed.error : '', error);
  });
}
