import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';
import { splitSecretName } from '#resources/words/secret-reference.ts';

const read = (spec: object) => parseText(documentOf('TLSContext', spec)).resources[0]?.spec;

test('a TLSContext without fields speaks TLS 1.2 and 1.3, HTTP/2 and HTTP/1.1, and asks for no client certificate', () => {
  assert.deepEqual(read({}), {
    hosts: [],
    secret_namespacing: true,
    cert_required: false,
    min_tls_version: 'v1.2',
    max_tls_version: 'v1.3',
    alpn_protocols: ['h2', 'http/1.1'],
    gateway_id: ['default'],
  });
});

const FILES = { cert_chain_file: '/tls/tls.crt', private_key_file: '/tls/tls.key' };

const READ_AS: readonly [fields: object, spec: object][] = [
  [{ hosts: ['A.example.com', '*'] }, { hosts: ['a.example.com', '*'] }],
  [{ secret: 'a.b' }, { secret: 'a.b' }],
  [FILES, FILES],
  [
    { ca_secret: 'a', cert_required: true },
    { ca_secret: 'a', cert_required: true },
  ],
  [{ cacert_chain_file: '/ca' }, { cacert_chain_file: '/ca' }],
  [{ min_tls_version: 'v1.3' }, { min_tls_version: 'v1.3' }],
  [{ max_tls_version: 'v1.2' }, { max_tls_version: 'v1.2' }],
  [{ alpn_protocols: 'h2' }, { alpn_protocols: ['h2'] }],
  [{ alpn_protocols: 'h2, http/1.1' }, { alpn_protocols: ['h2', 'http/1.1'] }],
  [{ alpn_protocols: ['http/1.1'] }, { alpn_protocols: ['http/1.1'] }],
  [{ ecdh_curves: ['X25519', 'P-256'] }, { ecdh_curves: ['X25519', 'P-256'] }],
  [{ redirect_cleartext_from: 8080 }, { redirect_cleartext_from: 8080 }],
  [{ sni: 'Shop.Example.com' }, { sni: 'shop.example.com' }],
  [
    {
      cipher_suites: [
        'ECDHE-RSA-AES128-GCM-SHA256',
        '[ECDHE-ECDSA-AES128-GCM-SHA256|ECDHE-ECDSA-CHACHA20-POLY1305]',
      ],
    },
    {
      cipher_suites: [
        'ECDHE-RSA-AES128-GCM-SHA256',
        '[ECDHE-ECDSA-AES128-GCM-SHA256|ECDHE-ECDSA-CHACHA20-POLY1305]',
      ],
    },
  ],
];

for (const [fields, expected] of READ_AS) {
  test(`a TLSContext with ${JSON.stringify(fields)} is read as ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(read(fields), { ...read({}), ...expected });
    assert.deepEqual(problemsOf('TLSContext', fields), []);
  });
}

const PROBLEMS: readonly [fields: object, problem: RegExp][] = [
  [
    { min_tls_version: 'v1.1' },
    /^warning spec\.min_tls_version: TLS 1\.0 and 1\.1 are not served \(RFC 8996\)/,
  ],
  [{ max_tls_version: 'v1.1' }, /^error spec\.max_tls_version: TLS 1\.1 is not served/],
  [{ min_tls_version: '1.2' }, /^error spec\.min_tls_version: `min_tls_version` must be one of/],
  [
    { min_tls_version: 'v1.3', max_tls_version: 'v1.2' },
    /^error spec\.min_tls_version: `min_tls_version` is newer/,
  ],
  [{ cipher_suites: [] }, /^error spec\.cipher_suites: `cipher_suites` must not be empty/],
  [
    { cipher_suites: ['ECDHE-RSA-AES128-GCM-SHA265'] },
    /^error spec\.cipher_suites\[0\]: unknown cipher suite .*did you mean `ECDHE-RSA-AES128-GCM-SHA256`/,
  ],
  [
    { cipher_suites: ['TLS_AES_128_GCM_SHA256'] },
    /^error spec\.cipher_suites\[0\]: .*TLS 1\.3 has suites of its own/,
  ],
  [{ cipher_suites: ['AES128-SHA'] }, /^warning spec\.cipher_suites\[0\]: "AES128-SHA" is weak/],
  [{ ecdh_curves: ['P-255'] }, /^error spec\.ecdh_curves\[0\]: /],
  [{ alpn_protocols: 'h3' }, /^error spec\.alpn_protocols: `alpn_protocols` must be /],
  [
    { cert_chain_file: '/a' },
    /^error spec\.cert_chain_file: `cert_chain_file` needs `private_key_file`/,
  ],
  [
    { private_key_file: '/a' },
    /^error spec\.private_key_file: `private_key_file` needs `cert_chain_file`/,
  ],
  [
    { cacert_chain_file: 'ca.crt' },
    /^error spec\.cacert_chain_file: "ca\.crt" is not an absolute path/,
  ],
  [
    { ...FILES, secret: 's' },
    /^error spec\.cert_chain_file: `secret` and `cert_chain_file` exclude each other/,
  ],
  [
    { ca_secret: 'a', cacert_chain_file: '/a' },
    /^error spec\.cacert_chain_file: `ca_secret` and `cacert_chain_file` exclude/,
  ],
  [{ cert_required: true }, /^error spec\.cert_required: `cert_required` needs `ca_secret`/],
  [{ sni: '10.0.0.1' }, /^error spec\.sni: "10\.0\.0\.1" is an address/],
  [{ sni: '' }, /^error spec\.sni: /],
  [{ hosts: ['a:1'] }, /^error spec\.hosts\[0\]: /],
];

for (const [fields, problem] of PROBLEMS) {
  test(`a TLSContext with ${JSON.stringify(fields)} has the Problem`, () => {
    const [first = '', ...others] = problemsOf('TLSContext', fields);
    assert.match(first, problem);
    assert.deepEqual(others, []);
  });
}

test('what follows the last dot of a Secret is its namespace, where that is so', () => {
  assert.deepEqual(splitSecretName('a.b.c', true), { name: 'a.b', namespace: 'c' });
  assert.deepEqual(splitSecretName('a', true), { name: 'a' });
  assert.deepEqual(splitSecretName('a.b.c', false), { name: 'a.b.c' });
});
