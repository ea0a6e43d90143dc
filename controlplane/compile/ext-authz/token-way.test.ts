import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { servedFilters } from './served-filters.ts';
import { tokenWay } from './token-way.ts';

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
const OAUTH2 = '{OAuth2: {authorizationURL: https://idp.test, grantType: ClientCredentials}}';
const JWT = 'jwksURI: https://idp.test/keys';

/** Returns the way of a rule with these filters, beside a JWT Filter `tokens` of these settings. */
function wayOf(settings: string, filters = '{name: tokens}') {
  const yaml =
    document('Filter', 'tokens', `{JWT: {${settings}}}`) +
    document('Filter', 'other', OAUTH2) +
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
  ...['{{ .token.Claims.a.b }}', '{{ .token.Claims.a }}x', "a'b", 'a%b', ' a', ''].map(
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
  [
    'very long scopes',
    JWT,
    `{name: tokens, arguments: {scope: [${Array.from({ length: 10 }, (_, n) => 'a'.repeat(90) + n).join()}]}}`,
    /too long/,
  ],
  ['tokens without signature', 'validAlgorithms: [none]', '{name: tokens}', /validAlgorithms/],
  ['other algorithms alone', `${JWT}, validAlgorithms: [EdDSA]`, '{name: tokens}', /validAlg/],
  ['a leeway below 0', `${JWT}, leewayForExpiresAt: -1s`, '{name: tokens}', /leeway/],
  ['a leeway of iat below 0', `${JWT}, leewayForIssuedAt: -1s`, '{name: tokens}', /leeway/],
  ['a leeway of nbf below 0', `${JWT}, leewayForNotBefore: -1s`, '{name: tokens}', /leeway/],
  ['a quote in the issuer', `${JWT}, issuer: "a'b"`, '{name: tokens}', /unusual/],
  ['a formatter in the issuer', `${JWT}, issuer: "a%b"`, '{name: tokens}', /unusual/],
  ['a backslash in the audience', `${JWT}, audience: "a\\\\b"`, '{name: tokens}', /unusual/],
  ['a line break in the audience', `${JWT}, audience: "a\\nb"`, '{name: tokens}', /unusual/],
  ['a long audience', `${JWT}, audience: ${'a'.repeat(201)}`, '{name: tokens}', /long/],
  ['a scope with a quote', JWT, `{name: tokens, arguments: {scope: ["a'"]}}`, /scope/],
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

test('the condition asks for what the Filter asks for', () => {
  const check = (settings: string, filters?: string) => {
    const way = wayOf(`${JWT}, ${settings}`, filters);
    return 'provider' in way ? way.provider.check : '';
  };
  const name = (settings: string) => {
    const way = wayOf(`${JWT}, ${settings}`);
    return 'provider' in way ? way.provider.name : '';
  };
  const claims = (settings: string) =>
    `metadata.filter_metadata['envoy.filters.http.jwt_authn']['${name(settings)}']`;
  for (const claim of ['exp', 'nbf', 'iat', 'iss', 'aud']) {
    const field = {
      ...{ exp: 'requireExpiresAt', nbf: 'requireNotBefore', iat: 'requireIssuedAt' },
      ...{ iss: 'requireIssuer', aud: 'requireAudience' },
    }[claim];
    const required = `${field}: true`;
    assert.ok(check(required).includes(` has(${claims(required)}.${claim}) &&`), claim);
    const optional = `${field}: false`;
    assert.ok(check(optional).includes(`(!has(${claims(optional)}.${claim}) ||`), claim);
  }
  assert.ok(check('issuer: https://a').includes(".iss == 'https://a'"));
  assert.ok(check('audience: b').includes(".aud == 'b'"));
});
