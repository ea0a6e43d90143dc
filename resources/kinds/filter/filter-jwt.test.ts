import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';
import type { JwtSpec } from './filter-jwt.ts';

const KEYS = { jwksURI: 'https://idp.example.com/keys' };

function read(settings: object): JwtSpec | undefined {
  const [resource] = parseText(documentOf('Filter', { JWT: settings })).resources;
  return resource?.kind === 'Filter' ? resource.spec.JWT : undefined;
}

const problems = (settings: object) =>
  problemsOf('Filter', { JWT: settings }).map(line => line.replace('spec.JWT.', ''));

test('what is left out has its default', () => {
  const { validAlgorithms = [], ...rest }: Partial<JwtSpec> = read(KEYS) ?? {};
  assert.deepEqual(rest, {
    ...KEYS,
    requireAudience: false,
    requireIssuer: false,
    requireExpiresAt: false,
    leewayForExpiresAt: 0,
    requireNotBefore: false,
    leewayForNotBefore: 0,
    requireIssuedAt: false,
    leewayForIssuedAt: 0,
    injectRequestHeaders: [],
    errorResponse: {
      headers: [{ name: 'content-type', value: 'application/json' }],
      bodyTemplate: '{{ . | json "" }}',
    },
    insecureTLS: false,
    renegotiateTLS: 'never',
    maxStale: 0,
  });
  assert.deepEqual(validAlgorithms.slice(0, 3), ['RS256', 'RS384', 'RS512']);
  assert.ok(!validAlgorithms.includes('none'));
  assert.ok(validAlgorithms.every(algorithm => !algorithm.startsWith('HS')));
});

/** One row for each setting: what may be written, and what it means. */
const ACCEPTED: readonly [settings: object, field: keyof JwtSpec, value: unknown][] = [
  [{ jwksURI: 'http://127.0.0.1:1/keys?tenant=a' }, 'jwksURI', 'http://127.0.0.1:1/keys?tenant=a'],
  [{ validAlgorithms: ['ES256'] }, 'validAlgorithms', ['ES256']],
  [{ audience: 'api' }, 'audience', 'api'],
  [{ requireAudience: true }, 'requireAudience', true],
  [{ issuer: 'https://idp.example.com' }, 'issuer', 'https://idp.example.com'],
  [{ requireIssuer: true }, 'requireIssuer', true],
  [{ requireExpiresAt: true }, 'requireExpiresAt', true],
  [{ leewayForExpiresAt: '30s' }, 'leewayForExpiresAt', 30_000],
  [{ leewayForExpiresAt: '-1.5s' }, 'leewayForExpiresAt', -1_500],
  [{ requireNotBefore: true }, 'requireNotBefore', true],
  [{ leewayForNotBefore: '1us' }, 'leewayForNotBefore', 0.001],
  [{ requireIssuedAt: true }, 'requireIssuedAt', true],
  [{ leewayForIssuedAt: '1m' }, 'leewayForIssuedAt', 60_000],
  [
    { injectRequestHeaders: [{ name: 'X-Sub', value: 'a' }] },
    'injectRequestHeaders',
    [{ name: 'x-sub', value: 'a' }],
  ],
  [{ renegotiateTLS: 'freelyAsClient' }, 'renegotiateTLS', 'freelyAsClient'],
  [{ maxStale: '24h' }, 'maxStale', 86_400_000],
  [
    { errorResponse: { realm: 'me & you', headers: [], bodyTemplate: '{{ .message }}' } },
    'errorResponse',
    { realm: 'me & you', headers: [], bodyTemplate: '{{ .message }}' },
  ],
  [
    { errorResponse: { headers: [{ name: 'WWW-Authenticate', value: 'Basic' }] } },
    'errorResponse',
    { headers: [{ name: 'www-authenticate', value: 'Basic' }], bodyTemplate: '{{ . | json "" }}' },
  ],
];

for (const [settings, field, value] of ACCEPTED) {
  test(`${JSON.stringify(settings)} is taken`, () => {
    assert.deepEqual(read({ ...KEYS, ...settings })?.[field], value);
    assert.deepEqual(problems({ ...KEYS, ...settings }), []);
  });
}

test('without jwksURI only tokens without signature can be accepted', () => {
  const required = 'error jwksURI: `jwksURI` is required: an http:// or https:// URL';
  assert.deepEqual(problems({}), [required]);
  assert.deepEqual(
    problems({ validAlgorithms: ['none', 'RS256'] }).filter(line => line.startsWith('error')),
    [required],
  );
  assert.equal(read({ validAlgorithms: ['none'] })?.jwksURI, undefined);
});

const REFUSED: readonly [settings: object, problem: RegExp][] = [
  [{ jwksURI: 'keys' }, /^error jwksURI: Cannot parse url "keys": it must begin with/],
  [{ validAlgorithms: [] }, /^error validAlgorithms: `validAlgorithms` must not be empty$/],
  [
    { validAlgorithms: ['RS1'] },
    /^error validAlgorithms\[0\]: an item of `validAlgorithms` must be one of .*, not "RS1"/,
  ],
  [
    { validAlgorithms: 'RS256' },
    /^error validAlgorithms: `validAlgorithms` must be a list of signature algorithms, not "RS256"$/,
  ],
  [{ audience: '' }, /^error audience: `audience` must not be empty$/],
  [{ audience: ['a'] }, /^error audience: `audience` must be a string, not a list$/],
  [{ issuer: 5 }, /^error issuer: `issuer` must be a string, not 5$/],
  [
    { requireIssuer: 'true' },
    /^error requireIssuer: `requireIssuer` must be `true` or `false`, not "true"$/,
  ],
  [
    { leewayForNotBefore: '1' },
    /^error leewayForNotBefore: Cannot parse duration "1": a unit is missing/,
  ],
  [
    { injectRequestHeaders: [{ name: 'Host', value: 'x' }] },
    /^error injectRequestHeaders\[0\]\.name: a Filter may not set the header "Host"$/,
  ],
  [
    { injectRequestHeaders: [{ name: 'a', value: '{{ if }}' }] },
    /^error injectRequestHeaders\[0\]\.value: /,
  ],
  [{ errorResponse: { realm: 'a"b' } }, /^error errorResponse\.realm: "a\\"b" is not a realm/],
  [{ errorResponse: { realm: 'a\r\nb' } }, /^error errorResponse\.realm: .* is not a realm/],
  [{ errorResponse: { bodyTemplate: '{{ end }}' } }, /^error errorResponse\.bodyTemplate: /],
  [
    { errorResponse: { headers: [{ name: 'Content-Length', value: '0' }] } },
    /^error errorResponse\.headers\[0\]\.name: a Filter may not set the header "Content-Length"$/,
  ],
  [
    { errorResponse: { headers: [{ name: ':status', value: '200' }] } },
    /^error errorResponse\.headers\[0\]\.name: /,
  ],
  [
    { errorResponse: { headers: [{ name: 'a', value: '{{ json "" . }}' }] } },
    /^error errorResponse\.headers\[0\]\.value: .*json/,
  ],
  [{ authorizationURL: 'https://a' }, /^error authorizationURL: unknown field `authorizationURL`/],
];

for (const [settings, problem] of REFUSED) {
  test(`${JSON.stringify(settings)} is rejected`, () => {
    const [line = '', ...more] = problems({ ...KEYS, ...settings });
    assert.match(line, problem);
    assert.deepEqual(more, []);
  });
}

const WARNED: readonly [settings: object, warnings: readonly string[]][] = [
  [
    { jwksURI: 'http://idp/keys' },
    ['jwksURI: http without TLS: an attacker on the way can read and change what is sent'],
  ],
  [
    { insecureTLS: true },
    [
      'insecureTLS: the certificate is not verified: an attacker on the way can pretend to be the provider',
    ],
  ],
  [
    { validAlgorithms: ['RS256', 'none'] },
    ['validAlgorithms: `none` accepts tokens without signature: anyone can make one'],
  ],
  [
    { validAlgorithms: ['none'] },
    [
      'validAlgorithms: `none` accepts tokens without signature: anyone can make one',
      'jwksURI: `jwksURI` has no effect: `validAlgorithms` is `none` alone',
    ],
  ],
  [
    { validAlgorithms: ['HS256', 'RS256'] },
    [
      'validAlgorithms: HS256 verifies nothing: a JWK set that can be fetched holds no shared secrets',
    ],
  ],
  [
    {
      errorResponse: {
        headers: [
          { name: 'a', value: '1' },
          { name: 'A', value: '2' },
        ],
      },
    },
    ['errorResponse.headers[1].name: the header "a" is set twice. The first counts'],
  ],
];

for (const [settings, warnings] of WARNED) {
  test(`${JSON.stringify(settings)} is taken with a warning`, () => {
    assert.deepEqual(
      problems({ ...KEYS, ...settings }),
      warnings.map(warning => `warning ${warning}`),
    );
  });
}
