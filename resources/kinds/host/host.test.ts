import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';
import { DEFAULT_TLS_SETTINGS } from '#resources/traffic/tls-settings.ts';

const read = (spec: object) => parseText(documentOf('Host', spec)).resources[0]?.spec;

test('a Host without fields is every host, in plain text', () => {
  assert.deepEqual(read({}), {
    hostname: '*',
    requestPolicy: { insecure: {} },
    gateway_id: ['default'],
  });
  assert.deepEqual(problemsOf('Host', {}), []);
});

const READ_AS: readonly [fields: object, spec: object][] = [
  [{ hostname: 'Shop.Example.com.' }, { hostname: 'shop.example.com' }],
  [{ hostname: '*.Example.com' }, { hostname: '*.example.com' }],
  [{ tlsSecret: 'shop' }, { tlsSecret: { name: 'shop' } }],
  [{ tlsSecret: 'shop.example.com' }, { tlsSecret: { name: 'shop.example.com' } }],
  [
    { tlsSecret: { name: 'shop', namespace: 'tls' } },
    { tlsSecret: { name: 'shop', namespace: 'tls' } },
  ],
  [{ tlsContext: { name: 'strict' } }, { tlsContext: { name: 'strict' } }],
  [{ tls: { issuer: 'gateway' } }, { tls: { ...DEFAULT_TLS_SETTINGS, issuer: 'gateway' } }],
  [
    { requestPolicy: { insecure: { action: 'redirect' } } },
    { requestPolicy: { insecure: { action: 'Redirect' } } },
  ],
  [
    { requestPolicy: { insecure: { action: 'Route', additionalPort: -1 } } },
    { requestPolicy: { insecure: { action: 'Route', additionalPort: -1 } } },
  ],
  [{ acmeProvider: { authority: 'none' } }, { acmeProvider: { authority: 'none' } }],
  [
    { hostname: 'a.example.com', acmeProvider: { email: 'a@example.com' }, tlsSecret: 'kept' },
    {
      hostname: 'a.example.com',
      acmeProvider: {
        authority: 'https://acme-v02.api.letsencrypt.org/directory',
        email: 'a@example.com',
      },
      tlsSecret: { name: 'kept' },
    },
  ],
  [{ mappingSelector: {} }, { mappingSelector: { matchLabels: {}, matchExpressions: [] } }],
  [
    { selector: { matchLabels: { team: 'a' } } },
    { mappingSelector: { matchLabels: { team: 'a' }, matchExpressions: [] } },
  ],
  [
    { mapping_selector: { matchExpressions: [{ key: 'team', operator: 'Exists' }] } },
    {
      mappingSelector: {
        matchLabels: {},
        matchExpressions: [{ key: 'team', operator: 'Exists', values: [] }],
      },
    },
  ],
  [{ ambassador_id: ['other', 'default'] }, { gateway_id: ['other', 'default'] }],
  [{ ambassadorId: 'default' }, {}],
  [
    { tlsSecret: 's', hsts: { includeSubDomains: true } },
    {
      tlsSecret: { name: 's' },
      hsts: { max_age: 31_536_000, includeSubDomains: true, preload: false },
    },
  ],
];

for (const [fields, expected] of READ_AS) {
  test(`a Host with ${JSON.stringify(fields)} is read as ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(read(fields), { ...read({}), ...expected });
    assert.deepEqual(problemsOf('Host', fields), []);
  });
}

const PROBLEMS: readonly [fields: object, problem: RegExp][] = [
  [{ hostname: 'a:443' }, /^error spec\.hostname: Cannot parse host "a:443"/],
  [{ hostname: 'a.*.com' }, /^error spec\.hostname: /],
  [
    { hostname: '10.0.0.1', tlsSecret: 's' },
    /^error spec\.hostname: "10\.0\.0\.1" is an address: no client names it in TLS/,
  ],
  [
    { tlsSecret: 'A_b' },
    /^error spec\.tlsSecret: `tlsSecret` must be the name of a Secret, or .*, not "A_b"/,
  ],
  [{ tlsSecret: 5 }, /^error spec\.tlsSecret: `tlsSecret` must be the name of a Secret, or/],
  [{ tls: {} }, /^error spec\.tls: `tls` needs a certificate/],
  [
    { tls: { issuer: 'letsencrypt' } },
    /^error spec\.tls\.issuer: `issuer` must be one of `gateway`/,
  ],
  [
    { tls: { issuer: 'gateway' }, tlsSecret: 's' },
    /^error spec\.tls: a Host has one certificate: keep one of `tlsSecret`, `tls\.issuer`/,
  ],
  [
    { tls: { issuer: 'gateway' }, tlsContext: 'c' },
    /^error spec\.tls: `tls` and `tlsContext` exclude each other/,
  ],
  [
    { tls: { issuer: 'gateway', cert_required: true } },
    /^error spec\.tls\.cert_required: `cert_required` needs/,
  ],
  [
    { tls: { issuer: 'gateway', cipher_suits: [] } },
    /^warning spec\.tls\.cipher_suits: unknown field `cipher_suits`, did you mean/,
  ],
  [
    { hostname: 'a.example.com', acmeProvider: {} },
    /^error spec\.acmeProvider\.email: an ACME authority needs an `email`/,
  ],
  [
    { hostname: '*.example.com', acmeProvider: { email: 'a@example.com' } },
    /^error spec\.acmeProvider: no certificate can be ordered for "\*\.example\.com"/,
  ],
  [
    {
      hostname: 'a.example.com',
      tlsSecret: 'shop',
      acmeProvider: { email: 'a@example.com', privateKeySecret: { name: 'shop' } },
    },
    /^error spec\.acmeProvider\.privateKeySecret: the certificate is kept in this Secret/,
  ],
  [
    { acmeProvider: { email: 'a@example.com' } },
    /^error spec\.acmeProvider: no certificate can be ordered for "\*"/,
  ],
  ...['', 'a', '@', 'a@b,c@d', 'a@example.com?to=b', 'a b@example.com', 'a@b\nc'].map(
    (email): [object, RegExp] => [
      { hostname: 'a.example.com', acmeProvider: { email } },
      /^error spec\.acmeProvider\.email: Cannot parse email /,
    ],
  ),
  ...['', 'letsencrypt', 'http://ca.example.com/directory', 'https://u:p@ca.example.com'].map(
    (authority): [object, RegExp] => [
      { hostname: 'a.example.com', acmeProvider: { authority, email: 'a@example.com' } },
      /^error spec\.acmeProvider\.authority: (Cannot parse url|an ACME authority is asked by https)/,
    ],
  ),
  [
    {
      hostname: 'a.example.com',
      acmeProvider: { email: 'a@example.com' },
      tls: { issuer: 'gateway' },
    },
    /^error spec\.tls: a Host has one certificate: keep one of `acmeProvider`, `tls\.issuer`/,
  ],
  [
    {
      hostname: 'a.example.com',
      acmeProvider: { email: 'a@example.com', registration: '{}' },
    },
    /^warning spec\.acmeProvider\.registration: `registration` has no effect/,
  ],
  [
    { requestPolicy: { insecure: { action: 'Refuse' } } },
    /^error spec\.requestPolicy\.insecure\.action: `action` must be one of/,
  ],
  [
    { requestPolicy: { insecure: { additionalPort: 8080 } } },
    /^warning spec\.requestPolicy\.insecure\.additionalPort: `additionalPort` opens no port/,
  ],
  [
    {
      tls: { issuer: 'gateway', ca_secret: 'c', cert_required: true },
      requestPolicy: { insecure: { action: 'Route' } },
    },
    /^warning spec\.requestPolicy\.insecure\.action: requests without TLS are served, and have no client certificate/,
  ],
  [{ hsts: {} }, /^warning spec\.hsts: it is sent over TLS only/],
  [
    { tlsSecret: 's', hsts: { max_age: -1 } },
    /^error spec\.hsts\.max_age: `max_age` must be an integer of seconds/,
  ],
  [
    { tlsSecret: 's', hsts: { preload: true } },
    /^warning spec\.hsts\.preload: browsers list a host with/,
  ],
];

for (const [fields, problem] of PROBLEMS) {
  test(`a Host with ${JSON.stringify(fields)} has the Problem`, () => {
    const [first = '', ...others] = problemsOf('Host', fields);
    assert.match(first, problem);
    assert.deepEqual(others, []);
  });
}

test('what is left of a rejected Host is its hostname, when that can be read', () => {
  const left = (spec: object) =>
    parseText(documentOf('Host', spec)).rejected.map(({ hosts }) => hosts);
  assert.deepEqual(left({ hostname: 'A.example.com', tls: {} }), [['a.example.com']]);
  assert.deepEqual(left({ tls: {} }), [['*']]);
  assert.deepEqual(left({ hostname: 5 }), [undefined]);
});
