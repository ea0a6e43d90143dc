import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { compile } from '../compile.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { FUZZ_OPTIONS, written } from '../testing/written.ts';

type Rule = { readonly host?: string; readonly path?: string; readonly open?: true };

const policy = (name: string, rules: readonly Rule[], precedence = 0) =>
  written('FilterPolicy', 'default', name, {
    precedence,
    rules: rules.map(({ open, ...match }) => ({
      ...match,
      ...(open ? {} : { filters: [{ name: 'jwt' }] }),
    })),
  });
const mapping = (prefix: string, fields: object = {}, name = 'm') =>
  written('Mapping', 'default', name, { prefix, service: 's', ...fields });
const FILTER = written('Filter', 'default', 'jwt', { JWT: { jwksURI: 'https://idp.test/keys' } });
/** So that rules of all hosts protect something. */
const OTHERS = written('Mapping', 'default', 'others', { prefix: '/others/', service: 's' });

/** Returns `<policy> <field> <message>` of each warning about rules. */
function warnings(...documents: readonly object[]): readonly string[] {
  return warningsOf([FILTER, ...documents].map(each => stringify(each)).join('---\n'));
}

function warningsOf(yaml: string): readonly string[] {
  const { problems } = compile(resourceSetOf(yaml).resources, 'edge', FUZZ_OPTIONS);
  return problems
    .filter(({ kind, severity }) => kind === 'FilterPolicy' && severity === 'warning')
    .map(({ name, field, message }) => `${name} ${field} ${message}`);
}

const PARTIAL: readonly [path: string, prefix: string, example: string][] = [
  ['/adm', '/adm', '/adm/users'],
  ['/adm/', '/adm', '/adm/users'],
  ['/adm/', '/adm/', '/adm/users'],
  ['/adm/*', '/adm', '/adm'],
  ['/', '/', '/users'],
  ['/a%62', '/a%62', '/ab/users'],
];

for (const [path, prefix, example] of PARTIAL)
  test(`a rule for ${path} leaves ${example} of the prefix ${prefix}`, () => {
    const [first = '', ...others] = warnings(policy('p', [{ path }]), mapping(prefix));
    assert.deepEqual(others, []);
    assert.ok(
      first.startsWith('p spec.rules[0].path it covers only a part of Mapping default/m:'),
      first,
    );
    assert.ok(first.includes(`\`${example}\` matches no rule`), first);
  });

test('two rules for a prefix and what is below it leave what only begins so', () => {
  const found = warnings(policy('p', [{ path: '/adm' }, { path: '/adm/*' }]), mapping('/adm'));
  assert.equal(found.length, 2);
  assert.ok(found.every(text => text.includes('`/admusers` matches no rule')));
});

const WHOLE: readonly [title: string, rules: readonly Rule[], prefix: string, fields?: object][] = [
  ['a rule that covers the prefix', [{ path: '/adm*' }], '/adm'],
  ['a rule for all below a prefix with a slash', [{ path: '/adm/*' }], '/adm/'],
  ['a rule for a part of a Mapping', [{ path: '/admin/*' }, { path: '/login' }], '/'],
  ['a rule for some names of a prefix', [{ path: '/adm/*.html' }], '/adm/'],
  ['a prefix that is the whole path', [{ path: '/adm' }], '/adm', { prefix_exact: true }],
  ['an expression', [{ path: '/adm' }], '/adm', { prefix_regex: true }],
  ['a Mapping without filters', [{ path: '/adm' }], '/adm', { bypass_auth: true }],
  ['a Mapping of another host', [{ host: 'a.test', path: '/adm' }], '/adm', { host: 'b.test' }],
  ['another rule that covers the rest', [{ path: '/adm' }, { path: '*' }], '/adm'],
  ['another rule that opens the rest', [{ path: '/adm' }, { path: '/adm*', open: true }], '/adm'],
];

for (const [title, rules, prefix, fields] of WHOLE)
  test(`${title} is no cause for a warning`, () =>
    assert.deepEqual(warnings(policy('p', rules), mapping(prefix, fields), OTHERS), []));

const HOST = (name: string) => written('Host', 'default', 'h', { hostname: name });
const SHOP = policy('p', [
  { host: 'shop.test', path: '/public/*', open: true },
  { host: 'shop.test' },
]);

for (const [title, ...others] of [
  ['without any Host'],
  ['with a Host for every name', HOST('*')],
  [
    'beside a Mapping of the host for other paths',
    mapping('/news/', { host: 'shop.test' }, 'news'),
  ],
] as const)
  test(`a rule for one host leaves a Mapping on every name open to others, ${title}`, () => {
    assert.deepEqual(warnings(SHOP, mapping('/'), ...others), [
      'p spec.rules[1].host it is for `shop.test` alone, but Mapping default/m is served on every name: `/` with another `Host` matches no rule, and passes without filters. Write `host` in the Mapping, or a Host for each name, or a rule for every host',
    ]);
  });

test('each host of a policy has one such warning', () => {
  const rules = ['a.test', 'a.test', '*.b.test'].map((host, index) => ({
    host,
    path: `/${index}/*`,
  }));
  assert.deepEqual(
    warnings(policy('p', rules), mapping('/')).map(text => text.split(' it is')[0]),
    ['p spec.rules[0].host', 'p spec.rules[2].host'],
  );
});

const NAMED: readonly [title: string, ...documents: object[]][] = [
  ['the Mapping has the host', SHOP, mapping('/', { host: 'shop.test' })],
  ['each name has a Host', SHOP, mapping('/'), HOST('shop.test')],
  ['another rule is for every host', policy('p', [{ host: 'a.test' }, {}]), mapping('/')],
  ['another rule opens every host', SHOP, policy('q', [{ open: true }]), mapping('/')],
  [
    'the host has a Mapping of its own',
    SHOP,
    mapping('/'),
    mapping('/', { host: '*.test' }, 'own'),
  ],
  [
    'the Mapping is for other paths',
    policy('p', [{ host: 'a.test', path: '/x/*' }]),
    mapping('/y/'),
  ],
  ['an expression says the host', SHOP, mapping('/', { host: 's.*', host_regex: true })],
  ['the Mapping has no filters', SHOP, mapping('/', { bypass_auth: true })],
];

for (const [title, ...documents] of NAMED)
  test(`a rule for one host is no cause for a warning when ${title}`, () =>
    assert.deepEqual(warnings(...documents), []));

test('a rule behind one that covers it never matches', () => {
  const found = warnings(
    policy('a', [{ path: '/x*', host: '*.test' }]),
    policy('b', [{ path: '/x/y', host: 'a.test' }]),
  );
  assert.deepEqual(found, [
    'b spec.rules[0] it never matches: spec.rules[0] of FilterPolicy default/a is tried before and covers it',
  ]);
  assert.equal(warnings(policy('p', [{}, { path: '/x', open: true }])).length, 1);
});

test('a rule that goes before by its name and opens what another policy closes has a warning', () => {
  const documents = [
    policy('a', [{ path: '/adm/*', open: true }]),
    policy('b', [{ path: '/adm*' }]),
  ];
  const [first = '', ...others] = warnings(...documents);
  assert.deepEqual(others, []);
  assert.match(
    first,
    /^a spec\.rules\[0\] it opens `\/adm\/`, which spec\.rules\[0\] of FilterPolicy default\/b closes/,
  );
});

const DELIBERATE: readonly [title: string, ...policies: object[]][] = [
  [
    'what is open stands before the rest in the same policy',
    policy('p', [{ path: '/public/*', open: true }, { path: '*' }]),
  ],
  [
    'what is open has a higher precedence',
    policy('z', [{ path: '/public/*', open: true }], 1),
    policy('a', [{ path: '*' }]),
  ],
  [
    'what is open comes behind by its name, and is open elsewhere',
    policy('a', [{ path: '/adm*' }]),
    policy('b', [{ path: '/a*', open: true }]),
  ],
  [
    'hosts differ',
    policy('a', [{ host: 'a.test', open: true }]),
    policy('b', [{ host: 'b.test' }]),
  ],
];

for (const [title, ...policies] of DELIBERATE)
  test(`there is no warning where ${title}`, () =>
    assert.deepEqual(warnings(...policies, mapping('/', { host: '*.test' })), []));

test("the demo's policies have none", () => {
  const folder = join(import.meta.dirname, '..', '..', '..', 'envoy', 'resources');
  const files = readdirSync(folder).map(file => readFileSync(join(folder, file), 'utf8'));
  assert.deepEqual(warningsOf(files.join('\n---\n')), []);
});

test('of two thousand policies for hosts of their own the one that never matches is found', () => {
  const many = Array.from({ length: 2_000 }, (_, n) => policy(`p${n}`, [{ host: `h${n}.test` }]));
  assert.deepEqual(warnings(...many, policy('q', [{ host: 'h7.test', path: '/x' }])), [
    'q spec.rules[0] it never matches: spec.rules[0] of FilterPolicy default/p7 is tried before and covers it',
  ]);
});
