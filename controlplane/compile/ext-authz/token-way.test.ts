import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { servedFilters } from './served-filters.ts';
import { tokenWay } from './token-way.ts';

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
const OAUTH2 = '{OAuth2: {authorizationURL: https://idp.test, grantType: ClientCredentials}}';
const SETTING = 'injectRequestHeaders: [{name: AUTHORIZATION, value: a}]';
const DELEGATING = 'accessTokenJWTFilter: {name: delegate}';
const JWT = 'jwksURI: https://idp.test/keys';

/** Returns the way of a rule with these filters, beside a JWT Filter `tokens` of these settings. */
function wayOf(settings: string, filters = '{name: tokens}') {
  const yaml =
    document('Filter', 'tokens', `{JWT: {${settings}}}`) +
    document('Filter', 'other', OAUTH2) +
    document('Filter', 'setting', OAUTH2.replace('grantType', `${SETTING}, grantType`)) +
    document('Filter', 'delegate', `{JWT: {${JWT}, ${SETTING}}}`) +
    document('Filter', 'passing', OAUTH2.replace('grantType', `${DELEGATING}, grantType`)) +
    document('FilterPolicy', 'policy', `{rules: [{filters: [${filters}]}]}`);
  const { resources } = resourceSetOf(yaml);
  const [policy] = resources.filterPolicies;
  const [rule] = policy?.spec.rules ?? [];
  return tokenWay(rule?.filters ?? [], 'default', servedFilters(resources).byName);
}

const REASONS: readonly (readonly [
  what: string,
  settings: string,
  filters: string,
  reason: RegExp,
])[] = [
  ['several Filters', JWT, '{name: tokens}, {name: tokens}', /several Filters/],
  ['an OAuth2 Filter', JWT, '{name: other}', /OAuth2/],
  ['a Filter that is not there', JWT, '{name: gone}', /not in force/],
  ['a Filter of another namespace', JWT, '{name: tokens, namespace: x}', /not in force/],
  ['a login after it', JWT, '{name: tokens}, {name: other}', /several Filters/],
  [
    'a login after it that may set the same header',
    JWT,
    '{name: tokens, onAllow: break}, {name: setting}',
    /several Filters/,
  ],
  [
    'a login after it whose tokens go to a Filter that may set the same header',
    JWT,
    '{name: tokens, onAllow: break}, {name: passing}',
    /several Filters/,
  ],
  [
    'a login with other Filters after it',
    JWT,
    '{name: tokens, onAllow: break}, {name: other, arguments: {insteadOfRedirect: {filters: [{name: tokens}]}}}',
    /several Filters/,
  ],
  [
    'a condition that no token needs to meet',
    JWT,
    '{name: tokens, ifRequestHeader: {name: Authorization, negate: true}}',
    /ifRequestHeader/,
  ],
  [
    'a value of the field',
    JWT,
    '{name: tokens, ifRequestHeader: {name: Authorization, valueRegex: x}}',
    /ifRequestHeader/,
  ],
  ['ifRequestHeader', JWT, '{name: tokens, ifRequestHeader: {name: x}}', /ifRequestHeader/],
  [
    'a header that is set',
    `${JWT}, injectRequestHeaders: [{name: x-sub, value: '{{ .token.Raw }}'}]`,
    '{name: tokens}',
    /injectRequestHeaders/,
  ],
  ...['authorization', "x'y", 'x%y'].map(
    name =>
      [
        `the header ${name}`,
        `${JWT}, injectRequestHeaders: [{name: "${name}", value: a}]`,
        '{name: tokens}',
        /injectRequestHeaders/,
      ] as const,
  ),
  ...['{{ .token.Claims.a.b }}', '{{ .token.Claims.a }}x', '{{ 1 }}', 'é', ' a', 'a ', ''].map(
    value =>
      [
        `the value ${JSON.stringify(value)}`,
        `${JWT}, injectRequestHeaders: [{name: x, value: ${JSON.stringify(value)}}]`,
        '{name: tokens}',
        /injectRequestHeaders/,
      ] as const,
  ),
  [
    'a header that is set twice',
    `${JWT}, injectRequestHeaders: [{name: x, value: a}, {name: X, value: b}]`,
    '{name: tokens}',
    /injectRequestHeaders/,
  ],
  ['tokens without signature', 'validAlgorithms: [none]', '{name: tokens}', /validAlgorithms/],
  ['other algorithms alone', `${JWT}, validAlgorithms: [EdDSA]`, '{name: tokens}', /validAlg/],
  ['a leeway below 0', `${JWT}, leewayForExpiresAt: -1s`, '{name: tokens}', /leeway/],
  ['a leeway of iat below 0', `${JWT}, leewayForIssuedAt: -1s`, '{name: tokens}', /leeway/],
  ['a leeway of nbf below 0', `${JWT}, leewayForNotBefore: -1s`, '{name: tokens}', /leeway/],
];

for (const [what, settings, filters, reason] of REASONS)
  test(`${what}: ext-authz alone verifies`, () => {
    const way = wayOf(settings, filters);
    assert.match('reason' in way ? way.reason : 'no reason', reason);
  });

test('a Filter without more than keys is verified by proxies', () => {
  const way = wayOf(JWT);
  assert.ok('provider' in way);
  assert.equal(way.provider.filter, 'default/tokens');
  assert.equal(way.provider.jwksURI, 'https://idp.test/keys');
  assert.deepEqual(
    way.provider.algorithms.filter(algorithm => !/^(?:[RP]S|ES)\d/.test(algorithm)),
    [],
  );
  assert.match(way.provider.name, /^\w{15,20}$/);
});

test('a login behind a token that is good changes nothing', () => {
  const token = '{name: tokens, ifRequestHeader: {name: AUTHORIZATION}, onAllow: break}';
  assert.ok('provider' in wayOf(JWT, `${token}, {name: other}`));
});

test('a provider has another name when anything of it differs', () => {
  const scoped = (scope: string) => `{name: tokens, arguments: {scope: [${scope}]}}`;
  const ways = [
    wayOf(JWT),
    wayOf(`${JWT}2`),
    wayOf(`${JWT}, audience: a`),
    wayOf(`${JWT}, requireAudience: true`),
    wayOf(
      `${JWT}, insteadOfRedirect: {}`.replace(', insteadOfRedirect: {}', ', insecureTLS: true'),
    ),
    wayOf(`${JWT}, validAlgorithms: [RS256]`),
    wayOf(`${JWT}, leewayForExpiresAt: 1s`),
    wayOf(JWT, scoped('a')),
    wayOf(JWT, scoped('b')),
    wayOf(JWT, scoped('a, b')),
  ];
  const names = ways.map(way => ('provider' in way ? way.provider.name : ''));
  assert.equal(new Set(names).size, ways.length, names.join());
  assert.deepEqual(wayOf(JWT), ways[0]);
});

test('the terms have what the Filter asks for, whatever characters it has', () => {
  const settings = `${JWT}, issuer: "a'b%", audience: 'c"', requireIssuer: true,
    injectRequestHeaders: [{name: X-Sub, value: '{{ .token.Claims.sub }}'}, {name: x, value: "a'b%"}]`;
  const way = wayOf(settings, '{name: tokens, arguments: {scope: [a, "b\'"]}}');
  assert.ok('provider' in way);
  assert.deepEqual(way.provider.terms, {
    issuer: "a'b%",
    audience: 'c"',
    requireIssuer: true,
    requireAudience: false,
    requireExpiresAt: false,
    requireNotBefore: false,
    requireIssuedAt: false,
    scope: ['a', "b'"],
    headers: [
      { name: 'x-sub', claim: 'sub' },
      { name: 'x', text: "a'b%" },
    ],
  });
});
