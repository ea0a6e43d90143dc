import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { compileOptions } from '../../cli/built-in-addresses.ts';
import { parseClientRequest } from './client-request.ts';
import { describe } from './describe.ts';
import { type Explanation, explain } from './explanation.ts';

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

function explained(
  yaml: string,
  url = '/',
  header: readonly string[] = [],
  nodeGroup = 'edge',
): Explanation {
  const { resources, problems } = resourceSetOf(yaml, 'in.yaml');
  const request = parseClientRequest('GET', url, { header, from: '203.0.113.7' });
  return explain({ resources, problems, nodeGroup, request, options: compileOptions({}) })
    .explanation;
}

function lastLines(yaml: string, count = 1): readonly string[] {
  return describe(explained(yaml)).trimEnd().split('\n').slice(-count);
}

const mapping = (labels: string) =>
  document('Mapping', 'all', `{prefix: /, service: s, labels: {gateway: [${labels}]}}`);
const limits = (...list: readonly string[]) =>
  document('RateLimit', 'r', `{domain: gateway, limits: [${list.join()}]}`);

const VERDICTS: readonly (readonly [string, string, string])[] = [
  ['without limits', limits(), 'This request may pass any number of times: no limit applies.'],
  [
    'with limits of several units, the lowest of each',
    limits(
      '{pattern: [{generic_key: a}], rate: 7, unit: hour}',
      '{pattern: [{generic_key: a}], rate: 9, unit: second}',
      '{pattern: [{generic_key: a}], rate: 1, unit: second}',
    ),
    'This request may pass 1 time per second and 7 times per hour, then it is answered 429.',
  ],
  [
    'with LogOnly limits alone',
    limits('{pattern: [{generic_key: a}], rate: 0, unit: hour, action: LogOnly}'),
    'This request may pass any number of times: what exceeds its limits is only logged.',
  ],
  [
    'with a rate of 0',
    limits('{name: "no one", pattern: [], rate: 0, unit: day}'),
    'This request is answered 429 every time: limit "no one" has rate 0.',
  ],
];

for (const [why, yaml, line] of VERDICTS) {
  test(`what a request comes to ${why}`, () => {
    assert.deepEqual(lastLines(mapping('{g: [a]}') + yaml), [line]);
  });
}

test('a canary is told by cluster, where the cluster is a label', () => {
  const canary = document(
    'Mapping',
    'canary',
    `{prefix: /, service: next, weight: 25, labels: {gateway: [{g: [destination_cluster]}]}}`,
  );
  const limit = limits('{pattern: [{destination_cluster: next}], rate: 1, unit: day}');
  const yaml = mapping('{g: [destination_cluster]}') + canary + limit;
  assert.deepEqual(
    explained(yaml).route?.targets.map(({ cluster, percent, of }) => [
      cluster,
      percent,
      of.resource,
    ]),
    [
      ['s', 75, 'Mapping default/all'],
      ['next', 25, 'Mapping default/canary'],
    ],
  );
  assert.deepEqual(lastLines(yaml, 2), [
    'At s this request may pass any number of times: no limit applies.',
    'At next this request may pass 1 time per day, then it is answered 429.',
  ]);
});

test('of Mappings that share a route, the labels may be of one without its Filters', () => {
  const open = document(
    'Mapping',
    'a',
    '{prefix: /, service: next, weight: 25, bypass_auth: true, labels: {gateway: [{own: [it]}]}}',
  );
  const yaml =
    open +
    document('Mapping', 'b', '{prefix: /, service: s}') +
    limits('{pattern: [{generic_key: it}], rate: 1, unit: day}');
  const { rateLimits, route } = explained(yaml);
  assert.deepEqual(
    route?.targets.map(({ cluster, of }) => [cluster, of.resource]),
    [
      ['s', 'Mapping default/b'],
      ['next', 'Mapping default/a'],
    ],
  );
  const named = rateLimits?.cases.map(({ groups, applied }) => [groups[0]?.name, applied.length]);
  assert.deepEqual(named, [['own', 1]]);
});

test('default labels alone are the group default, also of a ProxyConfig', () => {
  const module = document(
    'Module',
    'gateway',
    '{config: {default_labels: {gateway: {defaults: [remote_address]}}}}',
  );
  const routes = document(
    'ProxyConfig',
    'edge',
    `{node_group: edge, clusters: [{name: up, type: static, hosts: [{url: 'tcp://127.0.0.1:1'}]}],
      virtual_hosts: [{name: all, domains: ['*'], routes: [{prefix: /, cluster: up}]}]}`,
  );
  const { rateLimits, route } = explained(module + routes);
  assert.equal(route?.resource, 'ProxyConfig default/edge');
  assert.deepEqual(rateLimits?.cases[0]?.groups, [
    {
      name: 'default',
      domain: 'gateway',
      labels: [{ key: 'remote_address', value: '203.0.113.7' }],
    },
  ]);
});

test('labels and limits of both default domains are told', () => {
  const module = document(
    'Module',
    'gateway',
    '{config: {default_labels: {ambassador: {defaults: [remote_address]}}}}',
  );
  const theirs = document(
    'RateLimit',
    'theirs',
    "{domain: ambassador, limits: [{name: their, pattern: [{remote_address: '*'}], rate: 2, unit: day}]}",
  );
  const ours = limits('{name: our, pattern: [{generic_key: a}], rate: 9, unit: day}');
  const explanation = explained(module + mapping('{g: [a]}') + theirs + ours);
  const [only] = explanation.rateLimits?.cases ?? [];
  assert.deepEqual(
    only?.groups.map(({ domain, name }) => `${domain} ${name}`),
    ['gateway g', 'ambassador default'],
  );
  assert.deepEqual(
    only?.applied.map(({ name }) => name),
    ['our', 'their'],
  );
  const sections =
    /Labels in domain gateway\n {2}g: .*\nLabels in domain ambassador\n {2}default: /;
  assert.match(describe(explanation), sections);
});

test('only the nearest limits are told, unless all are asked for', () => {
  const many = Array.from(
    { length: 15 },
    (_, n) => `{pattern: [{generic_key: n${n}}], rate: 1, unit: day}`,
  );
  const near = '{name: near, pattern: [{generic_key: a}, {generic_key: b}], rate: 1, unit: day}';
  const explanation = explained(mapping('{g: [a]}') + limits(...many, near));
  const few = describe(explanation);
  assert.match(few, / {2}not near: .*\n.*: the group ends after 1 label, the pattern has 2\n/);
  assert.match(few, / {2}… and 6 more that do not apply \(--all shows them\)\n/);
  assert.equal(describe(explanation, true).match(/^ {2}not /gm)?.length, 16);
});

test('the service of the operator is named', () => {
  const service = document('RateLimitService', 'mine', `{service: 'limits.shop:8081'}`);
  assert.match(
    describe(explained(mapping('{g: [a]}') + service)),
    /\n {2}RateLimitService default\/mine \(in\.yaml:\d+\) is asked, at limits\.shop:8081\./,
  );
});

const REFUSED: readonly (readonly [string, readonly string[], number])[] = [
  ['/a%2Fb', [], 400],
  ['/a%00', [], 400],
  ['/', ['x_a: 1'], 400],
];
for (const [url, header, status] of REFUSED) {
  test(`${url} with ${JSON.stringify(header)} is answered ${status} before any route`, () => {
    const explanation = explained(mapping('{g: [a]}'), url, header);
    assert.equal(explanation.answer?.status, status);
    assert.equal(explanation.route, undefined);
    assert.equal(explanation.nearest, undefined);
  });
}

test('the nearest Mappings are those with the fewest differences, hosts included', () => {
  const yaml = [
    document('Mapping', 'far', '{host: a.com, prefix: /other/, service: s}'),
    document('Mapping', 'path', '{host: a.com, prefix: /users/, service: s}'),
    document(
      'Mapping',
      'host',
      '{host: b.com, prefix: /user/, service: s, headers: {x-key: s3cret}}',
    ),
    document(
      'Mapping',
      'header',
      '{host: a.com, prefix: /user/, service: s, headers: {x-key: s3cret, x-any: true}}',
    ),
  ].join('');
  const { answer, nearest } = explained(yaml, 'http://a.com/user/x', ['X-Key: wrong']);
  assert.equal(answer?.status, 404);
  assert.deepEqual(
    nearest?.map(({ resource, reasons }) => [resource, ...reasons]),
    [
      ['Mapping default/path', 'the path is /user/x, not one that begins with /users/'],
      [
        'Mapping default/header',
        'the header x-any is missing',
        'the header x-key has another value',
      ],
      [
        'Mapping default/host',
        'the host is a.com, not b.com',
        'the header x-key has another value',
      ],
    ],
  );
});

test('a request that does not name one host is answered 400, whatever Mapping would match', () => {
  const shop = document('Mapping', 'shop', '{host: shop.test, prefix: /, service: s}');
  for (const host of ['.', 'shop.test,a.test', 'shop.test:80,a.test', 'shop.test:@a.test'])
    assert.deepEqual(
      explained(shop, '/', [`Host: ${host}`]).answer,
      { status: 400, reason: 'it does not name one host' },
      host,
    );
});

test('odd names are only names', () => {
  const yaml =
    mapping('{keyFor: [{constructor: {header: X-A}}]}') +
    limits('{name: toString, pattern: [{constructor: "\\e[31m"}], rate: 1, unit: day}');
  const text = describe(explained(yaml, '/', ['x-a: \u{1F600}']));
  assert.match(text, /keyFor: constructor="😀"/);
  assert.match(text, /not toString: /);
  assert.ok(!text.includes('\u001b'), 'no terminal takes it for a command');
});

test('what is wrong with a resource is told without what a terminal would take for a command', () => {
  const explanation = explained(
    document('Mapping', 'm', '{prefix: /, service: "ftp://a\\e[2J\\n\\u202eb"}'),
  );
  assert.ok(explanation.answer?.reason.includes('\u001b'));
  const [last = ''] = describe(explanation).trimEnd().split('\n').slice(-1);
  assert.match(last, /^This request is answered 500: .*ftp:\/\/a\\u001b\[2J\\u000a\\u202eb/);
});

for (const [spec, status, target] of [
  ['service: www.test', 301, 'http://www.test/'],
  [
    "service: 'https://www.test:8443', path_redirect: /a, redirect_response_code: 307",
    307,
    'https://www.test:8443/a',
  ],
] as const) {
  test(`a redirect to {${spec}} is told as one`, () => {
    const { answer, rateLimits, route } = explained(
      document('Mapping', 'moved', `{prefix: /, host_redirect: true, ${spec}}`),
    );
    assert.deepEqual(answer, { status, reason: `its route redirects it to ${target}` });
    assert.deepEqual([route?.targets, rateLimits], [[], undefined]);
  });
}

test('proxies of another node group run no Filters, and it says so', () => {
  const yaml =
    document('ProxyConfig', 'front', '{node_group: front, listener: {port: 5001}}') +
    document('Mapping', 'm', '{prefix: /, service: s, node_group: front}');
  const lines = (group: string) =>
    describe(explained(yaml + document('Mapping', 'e', '{prefix: /, service: s}'), '/', [], group));
  const told = 'Filters\n  none runs in node group front, because they run at the edge alone\n';
  assert.ok(lines('front').includes(told), lines('front'));
  assert.ok(!lines('edge').includes('none runs'));
});

test('a closed Mapping is told as closed, and not as one with an error', () => {
  const { answer } = explained(document('Mapping', 'm', '{prefix: /, service: s, closed: true}'));
  assert.deepEqual(answer, { status: 500, reason: 'its Mapping has `closed: true`' });
});
