import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClaimRules, claimFault, scopeClaim } from './claims.ts';
import { jwtSettings } from './testing/jwt-settings.ts';

/** 1,000 s after the epoch */
const NOW = 1_000_000;

const EXPIRED = 'the token has expired (exp)';
const NOT_YET = 'the token is not valid yet (nbf)';
const FUTURE = 'the token was issued in the future (iat)';
const ISSUER = 'the token is from another issuer (iss)';
const AUDIENCE = 'the token is for another audience (aud)';

type Row = readonly [
  what: string,
  rules: Partial<ClaimRules>,
  claims: { readonly [name: string]: unknown },
  fault: string | undefined,
];

const ROWS: readonly Row[] = [
  ['no claim is required by default', {}, {}, undefined],
  ['any issuer will do when none is configured', {}, { iss: 'x' }, undefined],
  ['requireIssuer asks for iss', { requireIssuer: true }, {}, 'the token has no iss'],
  ['requireIssuer alone takes any issuer', { requireIssuer: true }, { iss: 'x' }, undefined],
  ['a configured issuer may be missing', { issuer: 'a' }, {}, undefined],
  ['a configured issuer is compared', { issuer: 'a' }, { iss: 'b' }, ISSUER],
  ['an issuer is compared as text', { issuer: 'https://a' }, { iss: 'https://a/' }, ISSUER],
  ['the configured issuer holds', { issuer: 'a' }, { iss: 'a' }, undefined],
  ['an issuer that is no text is refused', {}, { iss: ['a'] }, "the token's iss is malformed"],
  ['requireAudience asks for aud', { requireAudience: true }, {}, 'the token has no aud'],
  ['requireAudience is not met by an empty list', { requireAudience: true }, { aud: [] }, AUDIENCE],
  ['a configured audience may be missing', { audience: 'a' }, {}, undefined],
  ['a configured audience is compared', { audience: 'a' }, { aud: 'b' }, AUDIENCE],
  ['an audience is not searched in a text', { audience: 'a' }, { aud: 'ab' }, AUDIENCE],
  ['one of several audiences is enough', { audience: 'a' }, { aud: ['b', 'a'] }, undefined],
  ['an empty list has no audience', { audience: 'a' }, { aud: [] }, AUDIENCE],
  ['an audience that is no text is refused', {}, { aud: ['a', 1] }, "the token's aud is malformed"],
  ['requireExpiresAt asks for exp', { requireExpiresAt: true }, {}, 'the token has no exp'],
  ['exp holds before its time', {}, { exp: 1_000.001 }, undefined],
  ['exp does not hold at its time', {}, { exp: 1_000 }, EXPIRED],
  ['leewayForExpiresAt lets it hold longer', { leewayForExpiresAt: 1 }, { exp: 1_000 }, undefined],
  ['leewayForExpiresAt ends', { leewayForExpiresAt: 1_000 }, { exp: 999 }, EXPIRED],
  [
    'a negative leewayForExpiresAt is stricter',
    { leewayForExpiresAt: -5_000 },
    { exp: 1_005 },
    EXPIRED,
  ],
  ['exp as text is refused', {}, { exp: '2000' }, "the token's exp is malformed"],
  ['exp null is refused', {}, { exp: null }, "the token's exp is malformed"],
  [
    'exp beyond all numbers is refused',
    {},
    { exp: Number.POSITIVE_INFINITY },
    "the token's exp is malformed",
  ],
  ['requireNotBefore asks for nbf', { requireNotBefore: true }, {}, 'the token has no nbf'],
  ['nbf holds at its time', {}, { nbf: 1_000 }, undefined],
  ['nbf does not hold before', {}, { nbf: 1_001 }, NOT_YET],
  [
    'leewayForNotBefore lets it hold sooner',
    { leewayForNotBefore: 1_000 },
    { nbf: 1_001 },
    undefined,
  ],
  [
    'a negative leewayForNotBefore is stricter',
    { leewayForNotBefore: -1 },
    { nbf: 1_000 },
    NOT_YET,
  ],
  ['requireIssuedAt asks for iat', { requireIssuedAt: true }, {}, 'the token has no iat'],
  ['iat may not be in the future', {}, { iat: 1_001 }, FUTURE],
  ['leewayForIssuedAt lets it', { leewayForIssuedAt: 1_000 }, { iat: 1_001 }, undefined],
  [
    'claims of a prototype are none',
    { requireExpiresAt: true },
    JSON.parse('{"__proto__":{"exp":2000}}'),
    'the token has no exp',
  ],
];

for (const [what, rules, claims, fault] of ROWS)
  test(what, () => assert.equal(claimFault(claims, { ...jwtSettings(''), ...rules }, NOW), fault));

for (const [claims, values] of [
  [{}, undefined],
  [{ scope: 'a b  c' }, ['a', 'b', 'c']],
  [{ scope: ['a', 'b c'] }, ['a', 'b c']],
  [{ scope: '' }, []],
  [{ scope: ['a', 1, null] }, ['a']],
  [{ scope: 7 }, []],
  [{ scope: null }, []],
] as const)
  test(`the scope of ${JSON.stringify(claims)}`, () =>
    assert.deepEqual(scopeClaim(claims), values));
