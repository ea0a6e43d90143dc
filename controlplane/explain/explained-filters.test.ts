import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe } from './describe.ts';
import {
  type Asked,
  chainOf,
  document,
  explained,
  jwt,
  LOGIN,
  lastLine,
  MACHINES,
  mapping,
  policy,
  section,
} from './testing/explained.ts';

test('without Filters nothing is said of them', () => {
  const explanation = explained(mapping());
  assert.equal(explanation.filters, undefined);
  assert.doesNotMatch(describe(explanation), /Filters/);
});

test('a rule is told with its filters, each with what it does with the request', () => {
  const rules = `{host: '*.test', path: /app/*, filters: [
    {name: tokens, onDeny: continue, onAllow: break, ifRequestHeader: {name: X-Api}, arguments: {scope: [read]}},
    {name: machines, arguments: {scope: [b, a]}},
    {name: login, ifRequestHeader: {name: X-Mode, value: s3cret}, arguments: {sameSite: lax, scope: [profile],
      insteadOfRedirect: {ifRequestHeader: {name: Accept, valueRegex: json, negate: true}, httpStatusCode: 401}}}]}`;
  const yaml =
    LOGIN + MACHINES + jwt('tokens') + policy(`{path: /open/*}, ${rules}`, 'site', 5) + mapping();
  const asked = {
    url: 'http://a.other.test/app/x',
    header: ['X-Mode: s3cret', 'Accept: text/html'],
  };
  const explanation = explained(yaml, asked);
  assert.deepEqual(section(explanation), [
    '  FilterPolicy default/site (spec.rules[1]), host "*.test", path "/app/*", precedence 5',
    '    Filter default/tokens, JWT, is skipped: the header x-api is missing',
    '      onDeny continue, onAllow break',
    '      scope read',
    '    Filter default/machines, OAuth2 ClientCredentials, runs',
    '      onDeny break, onAllow continue',
    '      scope b, a',
    '      may set authorization',
    '    Filter default/login, OAuth2 AuthorizationCode, runs: the header x-mode has the wanted value',
    '      onDeny break, onAllow continue',
    '      scope openid, profile',
    '      may set authorization, x-user',
    '      protected origin http://other.test, as http://a.other.test, whose logins another origin holds',
    '      sameSite lax',
    '      without a session it is answered 401 (insteadOfRedirect runs: the header accept does not match the regular expression, and the condition is negated)',
    '    ext-authz verifies the token: another rule may match',
    '  … and 1 rule tried before without a match (--all shows them)',
  ]);
  assert.equal(
    lastLine(explanation),
    'When its filters let it pass, this request may pass any number of times: no limit applies.',
  );
});

test('an explanation as JSON has all of it, with places', () => {
  const yaml = jwt('tokens') + policy(`{path: /a}, {filters: [{name: tokens}]}`) + mapping();
  const { filters } = JSON.parse(JSON.stringify(explained(yaml)));
  const rule = {
    resource: 'FilterPolicy default/site',
    file: 'in.yaml',
    line: 7,
    precedence: 0,
    host: '*',
  };
  assert.deepEqual(filters, {
    decision: 'chain',
    rule: { ...rule, field: 'spec.rules[1]', path: '*' },
    earlier: [{ ...rule, field: 'spec.rules[0]', path: '/a', reason: 'the path is /, not /a' }],
    tokens: { verifiedBy: 'ext-authz', reason: 'another rule may match' },
    chain: [
      {
        ...{
          resource: 'Filter default/tokens',
          file: 'in.yaml',
          line: 2,
          type: 'JWT',
          applies: 'yes',
        },
        ...{ onDeny: 'break', onAllow: 'continue', scope: [], injects: [] },
      },
    ],
  });
});

test('insteadOfRedirect is told with the filters that decide', () => {
  const instead = `{filters: [{name: tokens, ifRequestHeader: {name: Authorization}, arguments: {scope: [read]}}]}`;
  const yaml =
    LOGIN +
    jwt('tokens') +
    policy(`{filters: [{name: login, arguments: {insteadOfRedirect: ${instead}}}]}`) +
    mapping();
  assert.deepEqual(section(explained(yaml)).slice(5), [
    '      protected origin http://site.test',
    '      without a session these filters decide (insteadOfRedirect runs)',
    '        Filter default/tokens, JWT, is skipped: the header authorization is missing',
    '          onDeny break, onAllow continue',
    '          scope read',
  ]);
});

test('a request that does not ask for a page is told to get 401 without a session', () => {
  const yaml = LOGIN + policy(`{filters: [{name: login}]}`) + mapping();
  const asked = { header: ['Accept: application/json'] };
  assert.deepEqual(section(explained(yaml, asked)).slice(-1), [
    '      without a session it is answered 401, since it does not ask for a page',
  ]);
  assert.deepEqual(section(explained(yaml)).slice(-1), [
    '      without a session it is sent to log in',
  ]);
});

const OFF: readonly (readonly [string, string, Asked, string])[] = [
  ['bypass_auth', ', bypass_auth: true', {}, '  off: the route has `bypass_auth`'],
  [
    'a host that no rule can match',
    ', host: free.test',
    { url: 'http://free.test/' },
    '  off: no rule can match in this virtual host, and it can be no protected origin',
  ],
];
for (const [why, fields, asked, line] of OFF) {
  test(`no filter runs with ${why}`, () => {
    const yaml =
      jwt('tokens') + policy('{host: site.test, filters: [{name: tokens}]}') + mapping(fields);
    const explanation = explained(yaml, asked);
    assert.deepEqual(section(explanation), [line]);
    assert.match(lastLine(explanation) ?? '', /^This request may pass any number/);
  });
}

test('rules that are tried before and do not match are told with --all', () => {
  const yaml =
    jwt('tokens') +
    policy('{host: b.test, filters: [{name: tokens}]}', 'high', 9) +
    policy('{path: /a/*}, {host: SITE.test}, {path: /later}', 'low') +
    mapping();
  const explanation = explained(yaml);
  assert.deepEqual(section(explanation, true), [
    '  FilterPolicy default/low (spec.rules[1]), host site.test, path "*"',
    '    no filters: the request is allowed',
    '  not FilterPolicy default/high (spec.rules[0]), host b.test, path "*", precedence 9: the host is site.test, not b.test',
    '  not FilterPolicy default/low (spec.rules[0]), host "*", path "/a/*": the path is /, not /a/*',
    '  the Filter service is asked: a rule may match other requests of this route',
  ]);
  assert.match(section(explanation).join('\n'), /\n {2}… and 2 rules tried before without a match/);
});

test('a request that no rule matches is allowed', () => {
  const yaml = jwt('tokens') + policy('{path: /a, filters: [{name: tokens}]}') + mapping();
  assert.deepEqual(section(explained(yaml), true), [
    '  no rule matches: the request is allowed',
    '  not FilterPolicy default/site (spec.rules[0]), host "*", path /a: the path is /, not /a',
    '  the Filter service is not asked: no rule can match',
  ]);
});

const ASKED: readonly (readonly [path: string, header: string, asked: string])[] = [
  ['/', 'X-A: 1', 'not asked: no rule can match'],
  ['/x;y', 'X-A: 1', 'asked: its path may be read in several ways'],
  ['/', 'Cookie: gateway_session.a.b=1', 'asked: it has a cookie of the gateway, which is removed'],
  ['/', 'X-Gateway-Password: p4ss', 'asked: it has x-gateway-password, which is removed'],
];

for (const [path, header, asked] of ASKED)
  test(`a request of ${path} with ${header}, which no rule matches, is ${asked}`, () => {
    const yaml = jwt('tokens') + policy('{path: /a/*, filters: [{name: tokens}]}') + mapping();
    const explanation = explained(yaml, { url: `http://site.test${path}`, header: [header] });
    assert.equal(section(explanation).at(-1), `  the Filter service is ${asked}`);
    assert.doesNotMatch(section(explanation).join(), /p4ss/);
  });

test('a path that is read differently is answered 400, and says what each reading meets', () => {
  const yaml = jwt('tokens') + policy('{path: /admin/*, filters: [{name: tokens}]}') + mapping();
  const explanation = explained(yaml, { url: 'http://site.test/admin;x/y' });
  assert.equal(explanation.answer?.status, 400);
  assert.equal(explanation.rateLimits, undefined);
  assert.deepEqual(section(explanation), [
    '  read as "/admin;x/y"',
    '    no rule',
    '  read as /admin/y',
    '    FilterPolicy default/site (spec.rules[0]), host "*", path "/admin/*"',
  ]);
});

const CLOSED: readonly (readonly [string, string, string, RegExp])[] = [
  ['a missing Filter', '', '{name: gone}', /there is no Filter default\/gone/],
  [
    'a refused Filter',
    document('Filter', 'bad', '{JWT: {}}'),
    '{name: bad}',
    /Filter default\/bad: spec\.JWT/,
  ],
  [
    'a Filter without its Secret',
    LOGIN.replace('secret: hunter2', 'secretName: gone'),
    '{name: login}',
    /there is no Secret default\/gone/,
  ],
  [
    'SameSite=None over http',
    LOGIN,
    '{name: login, arguments: {sameSite: none}}',
    /`none` needs https/,
  ],
];
for (const [why, filter, item, reason] of CLOSED) {
  test(`a rule that is closed by ${why} is answered 500 and says so`, () => {
    const yaml = filter + policy(`{filters: [${item}]}`) + mapping();
    const explanation = explained(yaml);
    assert.equal(explanation.answer?.status, 500);
    assert.ok(explanation.filters?.decision === 'closed');
    assert.match(explanation.filters.reasons.join('\n'), reason);
    assert.match(section(explanation).join('\n'), /\n {4}closed: /);
  });
}

test('a refused FilterPolicy closes its route', () => {
  const explanation = explained(policy('{path: /, filters: 5}') + mapping());
  assert.equal(explanation.route?.resource, 'FilterPolicy default/site');
  assert.equal(explanation.answer?.status, 500);
});

const CONDITIONS: readonly (readonly [string, readonly string[], string, string])[] = [
  ['{name: X-A}', ['X-A: 1'], 'yes', 'the header x-a is there'],
  ['{name: X-A}', [], 'no', 'the header x-a is missing'],
  [
    '{name: X-A, negate: true}',
    [],
    'yes',
    'the header x-a is missing, and the condition is negated',
  ],
  ['{name: X-A, value: p4ss}', ['X-A: other'], 'no', 'the header x-a has another value'],
  [
    '{name: X-A, value: p4ss}',
    ['X-A: other', 'X-A: p4ss'],
    'yes',
    'the header x-a has the wanted value',
  ],
  [
    '{name: X-A, valueRegex: "^p4.s$"}',
    ['X-A: p4ss'],
    'yes',
    'the header x-a matches the regular expression',
  ],
  [
    '{name: X-User}',
    ['X-User: root'],
    'no',
    "the client's own header x-user does not count, since filters set it",
  ],
];
for (const [condition, header, applies, reason] of CONDITIONS) {
  test(`whether ${condition} holds with ${JSON.stringify(header)}: ${applies}`, () => {
    const rule = `{filters: [{name: tokens, ifRequestHeader: ${condition}}]}`;
    const explanation = explained(
      jwt('tokens', '{name: X-User, value: a}') + policy(rule) + mapping(),
      {
        header,
      },
    );
    const [filter] = chainOf(explanation);
    assert.deepEqual([filter?.applies, filter?.reason], [applies, reason]);
    assert.doesNotMatch(JSON.stringify(explanation) + describe(explanation, true), /p4ss/);
  });
}

test('what an earlier filter may set is not guessed', () => {
  const condition = 'ifRequestHeader: {name: X-User}';
  const yaml = (first: string) =>
    jwt('a', '{name: X-User, value: a}') +
    jwt('b') +
    policy(`{filters: [{name: a${first}}, {name: b, ${condition}}]}`) +
    mapping();
  assert.deepEqual(
    chainOf(explained(yaml(''))).map(({ applies }) => applies),
    ['yes', 'depends'],
  );
  assert.deepEqual(
    chainOf(explained(yaml(', ifRequestHeader: {name: X-No}'))).map(({ applies }) => applies),
    ['no', 'no'],
  );
});

test('what filters of insteadOfRedirect may set is not guessed either', () => {
  const instead = 'arguments: {insteadOfRedirect: {filters: [{name: tokens}]}}';
  const rule = `{filters: [{name: login, ${instead}}, {name: b, ifRequestHeader: {name: X-Sub}}]}`;
  const yaml =
    LOGIN + jwt('tokens', '{name: X-Sub, value: a}') + jwt('b') + policy(rule) + mapping();
  const [, filter] = chainOf(explained(yaml));
  assert.equal(filter?.reason, 'it depends on what default/tokens puts into the header x-sub');
});

test('nothing secret is shown, of the Filter or of the request', () => {
  const yaml =
    LOGIN + policy(`{filters: [{name: login, ifRequestHeader: {name: Cookie}}]}`) + mapping();
  const header = ['Cookie: gateway_session.login.default=c00kie', 'Authorization: Bearer t0ken'];
  const explanation = explained(yaml, { header });
  assert.equal(chainOf(explanation)[0]?.applies, 'yes');
  const secrets = new RegExp(`hunter2|${Buffer.from('hunter2').toString('base64')}|c00kie|t0ken`);
  assert.doesNotMatch(JSON.stringify(explanation) + describe(explanation, true), secrets);
});

test('odd names and a host that filters refuse are only text', () => {
  const yaml =
    jwt('constructor') + policy('{filters: [{name: constructor}]}', 'tostring') + mapping();
  assert.equal(chainOf(explained(yaml))[0]?.resource, 'Filter default/constructor');
  const malformed = explained(yaml, { header: ['Host: a%41'] });
  assert.equal(malformed.answer?.status, 400);
  assert.deepEqual(section(malformed), ['  its host is malformed']);
});

const CACHED = LOGIN.replace('OAuth2: {', 'OAuth2: {decisionCache: 1.5s, ');

const REPEATED: readonly [what: string, rules: string, line: RegExp][] = [
  ['a rule of its own', '{filters: [{name: login}]}', /may repeat the decision for 1500 ms/],
  [
    'a condition',
    '{filters: [{name: login, ifRequestHeader: {name: X-Mode, negate: true}}]}',
    /no effect here: the filter has `ifRequestHeader`/,
  ],
  [
    'another filter',
    '{filters: [{name: login}, {name: tokens}]}',
    /no effect here: the rule has several filters/,
  ],
  [
    'another rule for other paths',
    '{path: /app/open/*}, {filters: [{name: login}]}',
    /may repeat the decision for 1500 ms/,
  ],
  [
    'a rule for some paths of the route',
    '{path: /app/*, filters: [{name: login}]}',
    /no effect here: the rule is not for every request of the route/,
  ],
];

for (const [what, rules, line] of REPEATED)
  test(`a login whose decisions proxies may repeat, with ${what}`, () => {
    const yaml = CACHED + jwt('tokens') + policy(rules) + mapping();
    const lines = section(explained(yaml, { url: 'http://other.test/app/x' }));
    assert.match(lines.find(text => text.includes('decision')) ?? '', line);
  });

test('a login whose decisions are not repeated says nothing of it', () => {
  const yaml = LOGIN + policy('{filters: [{name: login}]}') + mapping();
  const text = describe(explained(yaml, { url: 'http://other.test/app/x' }));
  assert.doesNotMatch(text, /decision/);
});

test('it is told whether the proxy verifies tokens, or why it does not', () => {
  const rule = '{path: /*, filters: [{name: tokens}]}';
  const lineOf = (yaml: string) =>
    section(explained(yaml))
      .find(line => line.includes('verifies'))
      ?.trim();
  assert.equal(
    lineOf(jwt('tokens') + policy(rule) + mapping()),
    'the proxy verifies usual tokens itself, and asks ext-authz about all others',
  );
  assert.equal(
    lineOf(jwt('tokens') + policy('{path: /a*}, {filters: [{name: tokens}]}') + mapping()),
    'ext-authz verifies the token: another rule may match',
  );
  assert.equal(
    lineOf(
      jwt('tokens') + policy('{path: /*, filters: [{name: tokens}, {name: tokens}]}') + mapping(),
    ),
    'ext-authz verifies the token: several Filters decide',
  );
  assert.equal(lineOf(LOGIN + policy('{filters: [{name: login}]}') + mapping()), undefined);
});
