import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rejected } from '#resources/resource.ts';
import { documentOf } from '#resources/testing/problem-lines.ts';
import { collect } from './collect.ts';
import { createParser } from './parse.ts';
import { DEFAULT_PARSE_OPTIONS } from './parse-options.ts';

const mapping = (name: string, service = 'x') =>
  `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: ${name}}\nspec: {prefix: /${name}, service: "${service}"}\n`;
const module = (name: string, namespace: string) =>
  `apiVersion: gateway.internal/v2\nkind: Module\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec: {}\n`;

function collectTexts(...texts: readonly string[]) {
  return collect(
    createParser(DEFAULT_PARSE_OPTIONS)(
      new Map(texts.map((text, index) => [`${index}.yaml`, { text }])),
    ),
  );
}

test('of two documents for one resource the first stays in force, and the Problem names both places', () => {
  const { resources, problems } = collectTexts(
    mapping('a', 'first'),
    `---\n${mapping('b')}---\n${mapping('a', 'second')}`,
  );
  const a = resources.get('Mapping/default/a');
  assert.equal(a?.kind === 'Mapping' && a.spec.service.host, 'first');
  assert.deepEqual(
    problems.map(({ file, line, message }) => `${file}:${line} ${message}`),
    ['1.yaml:7 Mapping default/a is already at 0.yaml:1, which counts. Remove or rename one'],
  );
});

test('the first is the first also when it is rejected: its last good version stays in force, not the second', () => {
  const { resources, rejected, problems } = collectTexts(mapping('a', '-'), mapping('a', 'second'));
  assert.equal(resources.size, 0);
  assert.deepEqual([...rejected.keys()], ['Mapping/default/a']);
  assert.equal(problems.length, 2);
});

test('a gateway has one Module, the first', () => {
  const { resources, problems } = collectTexts(
    module('gateway', 'a'),
    module('gateway', 'b'),
    module('ambassador', 'a'),
  );
  assert.deepEqual([...resources.keys()], ['Module/a/gateway']);
  assert.deepEqual(
    problems
      .filter(({ severity }) => severity === 'error')
      .map(({ file, message }) => [file, message]),
    [
      ['1.yaml', 'there is one Module for a gateway, and a/gateway at 0.yaml:1 counts. Remove one'],
      ['2.yaml', 'there is one Module for a gateway, and a/gateway at 0.yaml:1 counts. Remove one'],
    ],
  );
});

test('a broken one of a kind of which there is one keeps no good one out', () => {
  const limiter = (name: string, spec: object) =>
    documentOf('RateLimitService', { service: 'limits', ...spec }, name);
  const [broken, good] = [{ timeout_ms: 'x' }, {}];
  const { resources, rejected, problems } = collectTexts(
    limiter('aa', broken),
    limiter('bb', broken),
    limiter('cc', good),
    limiter('dd', broken),
    limiter('ee', good),
  );
  assert.deepEqual([...resources.keys()], ['RateLimitService/default/cc']);
  assert.deepEqual(
    [...rejected.keys()],
    ['RateLimitService/default/aa', 'RateLimitService/default/bb'],
  );
  assert.deepEqual(
    problems.filter(({ message }) => message.includes('there is one')).map(({ name }) => name),
    ['dd', 'ee'],
  );
});

test('a Module of a wrong name keeps none of the right name out', () => {
  const { resources, problems } = collectTexts(
    module('authentication', 'a'),
    module('gateway', 'a'),
  );
  assert.deepEqual([...resources.keys()], ['Module/a/gateway']);
  assert.deepEqual(
    problems.map(({ message }) => message),
    ['the name must be "gateway", not "authentication"'],
  );
});

test('a second Module, right or wrong, keeps the restrictions that the first does not ask for', () => {
  const asking = (name: string, config: object) => documentOf('Module', { config }, name);
  const { rejected } = collectTexts(
    asking('gateway', { ip_allow: ['a'] }),
    asking('gateway', { ip_deny: ['a'] }),
    asking('ambassador', { ip_allow: ['b'], ip_deny: ['b'], xff_num_trusted_hops: 'x' }),
    asking('ambassador', { ip_allow: ['b'] }),
    asking('ambassador', {}),
  );
  assert.deepEqual(
    [...rejected].map(([id, { name, unserved = [] }]) => [id, name, ...unserved.map(r => r.name)]),
    [
      ['Module/default/gateway@1.yaml:1', 'gateway@1.yaml:1', 'ip_deny'],
      ['Module/default/ambassador@2.yaml:1', 'ambassador', 'ip_deny'],
    ],
  );
});

test('resources without a readable name are each kept, so that each closes what it covers', () => {
  const unnamed = mapping('a').replace('name: a', 'nam: a');
  const { rejected } = collectTexts(unnamed, `${unnamed}---\n${unnamed}`);
  assert.deepEqual(
    [...rejected].map(([id, { match }]) => [id, match?.prefix]),
    [
      ['Mapping/default/@0.yaml:1', '/a'],
      ['Mapping/default/@1.yaml:1', '/a'],
      ['Mapping/default/@1.yaml:6', '/a'],
    ],
  );
});

test('a file with a part of which nothing is known is named', () => {
  const { unreadable, resources } = collectTexts(mapping('a'), `{{{\n---\n${mapping('b')}`);
  assert.deepEqual([...unreadable], ['1.yaml']);
  assert.deepEqual([...resources.keys()], ['Mapping/default/a', 'Mapping/default/b']);
});

test('a file with a document that does not say which resource it is is named', () => {
  const good = mapping('a');
  const texts = [
    good,
    `${good}---\n${good.replace('name: a', 'nam: b')}`,
    good.replace('kind: Mapping', 'kind: Telephone'),
    good.replace('kind: Mapping', 'kind:'),
    'just a word',
    'spec: { prefix: /a }',
    `${good}---\napiVersion: gatew`,
    'apiVersion: apps/v1\nkind: Deployment\n',
  ];
  assert.deepEqual(
    [...collectTexts(...texts).anonymous],
    ['1.yaml', '2.yaml', '3.yaml', '4.yaml', '5.yaml', '6.yaml'],
  );
});

test('a file with a document that breaks off in its name is named too', () => {
  const [begin = ''] = mapping('abc').split('bc}');
  const { anonymous, rejected } = collectTexts(begin);
  assert.deepEqual([...rejected.keys()], ['Mapping/default/a']);
  assert.deepEqual([...anonymous], ['0.yaml']);
});

const policy = (...paths: readonly string[]) =>
  documentOf('FilterPolicy', { rules: paths.map(path => ({ path, filters: [{ name: 'f' }] })) });
const closedPaths = (rejected: ReadonlyMap<string, Rejected>) =>
  [...rejected].map(([id, { rules = [] }]) => [id, ...rules.map(({ path }) => path)]);

test('what a second FilterPolicy of one name covers beyond the first is closed', () => {
  const { problems, rejected, resources } = collectTexts(
    policy('/a/*', '/b/*'),
    policy('/a/x', '/c/*'),
    `${policy('/d/*').replace('"filters"', '"filter"')}\n---\n${policy('/e/*')}`,
  );
  assert.deepEqual([...resources.keys()], ['FilterPolicy/default/x']);
  assert.deepEqual(closedPaths(rejected), [
    ['FilterPolicy/default/x@1.yaml:1', '/c/*'],
    ['FilterPolicy/default/x@2.yaml:1', '/d/*'],
    ['FilterPolicy/default/x@2.yaml:3', '/e/*'],
  ]);
  const told = problems.filter(({ message }) => message.includes('is already at'));
  assert.deepEqual(
    told.map(({ name }) => name),
    ['x', 'x', 'x'],
  );
});

test('a second FilterPolicy closes nothing that the first covers or that it opens, and is a Problem', () => {
  const open = documentOf('FilterPolicy', { rules: [{ path: '/b/*' }] });
  for (const second of [policy('/a/*'), policy('/a/x'), policy(), open]) {
    const { problems, rejected } = collectTexts(policy('/a/*'), second);
    assert.deepEqual([...rejected], []);
    assert.equal(problems.length, 1);
  }
});

test('of two rejected FilterPolicies of one name each closes what it covers', () => {
  const broken = (...paths: readonly string[]) =>
    policy(...paths).replace('"rules"', '"rule":1,"rules"');
  const { rejected } = collectTexts(broken('/a/*'), broken('/a/*', '/b/*'));
  assert.deepEqual(closedPaths(rejected), [
    ['FilterPolicy/default/x', '/a/*'],
    ['FilterPolicy/default/x@1.yaml:1', '/b/*'],
  ]);
});

function proxyConfig(prefix: string, cluster = 'site') {
  const host = { name: 'site', domains: ['a.test'], routes: [{ prefix, cluster }] };
  const hosts = [{ url: 'tcp://127.0.0.1:80' }];
  const clusters = [{ name: cluster, type: 'static', hosts }];
  return { node_group: 'edge', virtual_hosts: [host], clusters };
}

/** Of a ProxyConfig `closes` are prefixes. */
const COPIES: readonly [
  what: string,
  kind: string,
  first: object,
  second: object,
  closes: unknown,
][] = [
  ['another hostname', 'Host', { hostname: 'a.test' }, { hostname: 'b.test' }, ['b.test']],
  ['the same hostname', 'Host', { hostname: 'a.test' }, { hostname: 'A.test', hsts: {} }, []],
  ['a typo and another hostname', 'Host', {}, { hostname: 'b.test', tlsSecret: 5 }, ['b.test']],
  ['a hostname that cannot be read', 'Host', {}, { hostname: 5 }, []],
  [
    'another of its hosts',
    'TLSContext',
    { hosts: ['a.test', 'c.test'] },
    { hosts: ['a.test', 'b.test'], redirect_cleartext_from: 80 },
    ['b.test'],
  ],
  ['no other host', 'TLSContext', { hosts: ['a.test', 'b.test'] }, { hosts: ['b.test'] }, []],
  [
    'another prefix',
    'Mapping',
    { prefix: '/', service: 'a' },
    { prefix: '/b/', service: 'a' },
    ['/b/'],
  ],
  [
    'another method',
    'Mapping',
    { prefix: '/', service: 'a' },
    { prefix: '/', service: 'a', method: 'PUT' },
    ['/'],
  ],
  ['the same match', 'Mapping', { prefix: '/', service: 'a' }, { prefix: '/', service: 'b' }, []],
  [
    'a typo and the same match',
    'Mapping',
    { prefix: '/', service: 'a' },
    { prefix: '/', host: '*', service: 'a', timeout_ms: 'x' },
    [],
  ],
  [
    'the same match as a first with a typo',
    'Mapping',
    { prefix: '/', service: 'a', timeout_ms: 'x' },
    { prefix: '/', service: 'a' },
    [],
  ],
  [
    'a shadow of another prefix',
    'Mapping',
    { prefix: '/', service: 'a' },
    { prefix: '/b/', service: 'a', shadow: true },
    [],
  ],
  ['another prefix', 'ProxyConfig', proxyConfig('/a'), proxyConfig('/b'), ['/b']],
  ['the same hosts', 'ProxyConfig', proxyConfig('/a'), proxyConfig('/a', 'other'), []],
];
for (const [what, kind, first, second, closes] of COPIES)
  test(`of a second ${kind} with ${what} is closed: ${JSON.stringify(closes)}`, () => {
    const { problems, rejected } = collectTexts(documentOf(kind, first), documentOf(kind, second));
    const copy = rejected.get(`${kind}/default/x@1.yaml:1`);
    const prefixes = copy?.virtualHosts?.hosts.flatMap(({ prefixes }) => prefixes);
    assert.deepEqual(copy?.hosts ?? prefixes ?? [copy?.match?.prefix ?? []].flat(), closes);
    const [told = ''] = problems.flatMap(each =>
      each.message.includes('is already at 0.yaml:1') ? each.message : [],
    );
    assert.equal(told.includes('answers 500'), copy !== undefined);
  });
