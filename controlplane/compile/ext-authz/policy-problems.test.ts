import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { UNREADABLE_TARGET } from '#resources/kinds/gateway-api/policy-target.ts';
import type { Rejected } from '#resources/resource.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { written } from '../testing/written.ts';
import { closedPolicyProblems, policyProblems } from './policy-problems.ts';
import { servedFilters } from './served-filters.ts';

const REFUSED: Rejected = {
  kind: 'FilterPolicy',
  namespace: 'default',
  name: 'site',
  id: 'FilterPolicy/default/site',
  source: { file: 'a.yaml', line: 3 },
};
const messages = (...closed: readonly Rejected[]) =>
  closedPolicyProblems(toResourceSet([], closed)).map(({ message }) => message);

test('a rejected FilterPolicy has a Problem that names what answers 500 by it', () => {
  const rules = [{ host: 'a.test', path: '/admin/*' }, { path: '/b' }];
  const covered = 'path /admin/* of host a.test answers 500, path /b of host * answers 500';
  assert.deepEqual(messages({ ...REFUSED, rules }), [`the FilterPolicy is rejected: ${covered}`]);
});

test('a FilterPolicy that is closed without an error of its own says why', () => {
  const rules = [{ host: 'a.test', path: '/b' }];
  assert.deepEqual(messages({ ...REFUSED, rules, reason: 'not yet' }), [
    'not yet: path /b of host a.test answers 500',
  ]);
});

test('a rejected FilterPolicy names what it was for, and its namespace where that cannot be read', () => {
  const targets = [{ group: '', kind: 'HTTPRoute', name: 'shop' }, UNREADABLE_TARGET];
  const covered =
    'the HTTPRoute shop answers 500, every Gateway, ListenerSet and route of the namespace default answers 500';
  assert.deepEqual(messages({ ...REFUSED, rules: [], targets }), [
    `the FilterPolicy is rejected: ${covered}`,
  ]);
});

test('a rejected FilterPolicy of which no rule can be read closes every path', () =>
  assert.deepEqual(messages(REFUSED), [
    'the FilterPolicy is rejected: path * of host * answers 500',
  ]));

test('a rejected FilterPolicy without rules closes nothing, and other kinds have no paths', () =>
  assert.deepEqual(messages({ ...REFUSED, rules: [] }, { ...REFUSED, kind: 'Filter' }), []));

/** Returns the Problems between these documents. */
function policyWarnings(...documents: readonly object[]): readonly string[] {
  const { resources } = resourceSetOf(documents.map(each => stringify(each)).join('---\n'));
  return policyProblems(resources, servedFilters(resources)).map(
    ({ field, message, severity }) => `${severity} ${field} ${message}`,
  );
}

/** Returns the warnings of a rule for a host with a login for these origins. */
function loginWarnings(host: string, protectedOrigins: readonly object[], grant = {}) {
  const OAuth2 = {
    ...{ authorizationURL: 'https://idp.test', clientID: 'web', secret: 's' },
    ...{ protectedOrigins, ...grant },
  };
  return policyWarnings(
    written('Filter', 'default', 'login', { OAuth2 }),
    written('FilterPolicy', 'default', 'p', { rules: [{ host, filters: [{ name: 'login' }] }] }),
  );
}

/** Returns the warnings of a rule with these Filters. Each sets a header of its own name. */
function conditionWarnings(...filters: readonly object[]) {
  const jwt = (name: string, header: string) => {
    const injectRequestHeaders = [{ name: header, value: 'v' }];
    return written('Filter', 'default', name, {
      JWT: { jwksURI: 'https://idp.test/keys', injectRequestHeaders },
    });
  };
  return policyWarnings(
    ...[jwt('a', 'X-A'), jwt('b', 'X-B'), jwt('tokens', 'Authorization')],
    written('FilterPolicy', 'default', 'p', { rules: [{ filters }] }),
  );
}

test('a scope of which stripping leaves nothing is a warning, since no access token has it', () => {
  const warnings = (accessTokenJWTFilter: object, scope: readonly string[]) => {
    const OAuth2 = {
      ...{ authorizationURL: 'https://idp.test', grantType: 'ClientCredentials' },
      accessTokenJWTFilter: { name: 'tokens', ...accessTokenJWTFilter },
    };
    return policyWarnings(
      written('Filter', 'default', 'tokens', { JWT: { jwksURI: 'https://idp.test/keys' } }),
      written('Filter', 'default', 'login', { OAuth2 }),
      written('FilterPolicy', 'default', 'p', {
        rules: [{ filters: [{ name: 'login', arguments: { scope } }] }],
      }),
    );
  };
  const strips = { inheritScopeArgument: true, stripInheritedScope: true };
  assert.deepEqual(warnings(strips, ['https://mail.test/', 'https://api.test/read']), [
    'warning spec.rules[0].filters[0].arguments.scope[0] `stripInheritedScope` of the Filter login leaves nothing of "https://mail.test/", and no access token has an empty scope: requests are answered 403. Leave out the "/" at its end, or `stripInheritedScope`',
  ]);
  assert.deepEqual(warnings({ inheritScopeArgument: true }, ['https://mail.test/']), []);
  assert.deepEqual(warnings({ stripInheritedScope: true }, ['https://mail.test/']), []);
});

const ifHeader = (filter: string, name: string, more = {}) => ({
  ...{ name: filter, ifRequestHeader: { name, ...more } },
});

test('a condition that reads what its own or a later Filter sets is a warning', () => {
  const removed = `sets the header "x-a", so the client's own is removed first. Read another header`;
  assert.deepEqual(
    conditionWarnings(ifHeader('a', 'x-a', { negate: true }), ifHeader('b', 'X-C')),
    [`warning spec.rules[0].filters[0].ifRequestHeader it always holds: the Filter a ${removed}`],
  );
  assert.deepEqual(conditionWarnings(ifHeader('b', 'x-a', { value: 'v' }), { name: 'a' }), [
    `warning spec.rules[0].filters[0].ifRequestHeader it never holds: the Filter a ${removed}`,
  ]);
  const insteadOfRedirect = { ifRequestHeader: { name: 'x-a' } };
  const field = 'spec.rules[0].filters[0].arguments.insteadOfRedirect.ifRequestHeader';
  assert.equal(
    conditionWarnings({ name: 'a', arguments: { insteadOfRedirect } }).at(-1),
    `warning ${field} it never holds: the Filter a ${removed}`,
  );
});

test('a condition may read what an earlier Filter sets, and Authorization as the client sent it', () => {
  assert.deepEqual(conditionWarnings({ name: 'a' }, ifHeader('b', 'X-A')), []);
  assert.deepEqual(conditionWarnings({ name: 'a' }, ifHeader('a', 'X-A')), []);
  assert.deepEqual(conditionWarnings(ifHeader('tokens', 'Authorization')), []);
});

const A = [{ origin: 'https://a.test' }];
const BELOW_A = [{ origin: 'https://a.test', includeSubdomains: true }];

for (const [host, origins] of [
  ['a.test', A],
  ['*', A],
  ['*.test', A],
  ['a.*', A],
  ['b.a.test', BELOW_A],
  ['*.a.test', BELOW_A],
  ['b.test', [...A, { origin: 'https://b.test' }]],
  ['b.test', [{ origin: 'https://a.test', internalOrigin: 'http://b.test' }]],
  ['b.test', [{ origin: 'https://a.test', internalOrigin: '*://*' }]],
  ['[::1]', [{ origin: 'http://[::1]:8080' }]],
] as const)
  test(`a login for ${JSON.stringify(origins)} may be on the host ${host}`, () =>
    assert.deepEqual(loginWarnings(host, origins), []));

for (const [host, origins] of [
  ['b.test', A],
  ['*.a.test', A],
  ['b.a.test', A],
  ['b.test', BELOW_A],
  ['b.test', [{ origin: 'https://b.test', internalOrigin: 'http://a.test' }]],
] as const)
  test(`a login for ${JSON.stringify(origins)} on the host ${host} is warned of`, () =>
    assert.deepEqual(loginWarnings(host, origins), [
      `warning spec.rules[0].filters[0].name no protected origin of the Filter login is on the host "${host}", so nobody can log in there: requests are answered 403. Add it to \`protectedOrigins\`, or correct the host`,
    ]));

test('clients without a browser have no protected origins', () =>
  assert.deepEqual(loginWarnings('b.test', A, { grantType: 'Password' }), []));

for (const [grantType, problems] of [
  ['ClientCredentials', []],
  ['Password', []],
  [
    'AuthorizationCode',
    [
      'the Filter inner would redirect, so it cannot decide instead of a redirect: path * of host * answers 500',
    ],
  ],
] as const)
  test(`instead of a redirect a Filter with ${grantType} ${problems.length > 0 ? 'cannot decide' : 'decides'}`, () => {
    const client = { authorizationURL: 'https://idp.test', clientID: 'web', secret: 's' };
    const login = { ...client, protectedOrigins: A };
    const insteadOfRedirect = { filters: [{ name: 'inner', arguments: { scope: ['read'] } }] };
    const filters = [{ name: 'login', arguments: { insteadOfRedirect } }];
    const documents = [
      written('Filter', 'default', 'login', { OAuth2: login }),
      written('Filter', 'default', 'inner', { OAuth2: { ...login, grantType } }),
      written('FilterPolicy', 'default', 'p', { rules: [{ filters }] }),
    ];
    const { resources } = resourceSetOf(documents.map(each => stringify(each)).join('---\n'));
    const found = policyProblems(resources, servedFilters(resources));
    assert.deepEqual(
      found.map(({ message }) => message),
      problems,
    );
  });
