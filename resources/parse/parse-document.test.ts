import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseText, problemLines } from '#resources/testing/problem-lines.ts';
import { parseFile } from './parse.ts';

const HEAD = 'apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: x}\n';

test('a Problem names the line of the very field', () => {
  const text = `# first
apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata:
  name: x
spec:
  node_group: g
  clusters:
  - name: a
    type: sds
  virtual_hosts:
  - name: v
    domains:
    - "*"
    - a:80
    routes:
    - prefix: /a
      cluster: a
    - { prefix: /b,
        cluster: c }
`;
  assert.deepEqual(
    problemLines(parseText(text)).map(line => line.split(':')[0]),
    ['15 error spec.virtual_hosts[0].domains[1]'],
  );
  assert.deepEqual(
    problemLines(parseText(text.replace('a:80', 'a'))).map(line => line.split(':')[0]),
    ['20 error spec.virtual_hosts[0].routes[1].cluster'],
  );
});

test('a missing field is where the map that lacks it is', () => {
  assert.deepEqual(problemLines(parseText(`${HEAD}spec:\n  prefix: /x\n`)), [
    '4 error spec.service: `service` is required: [http://|https://]name[.namespace][:port]',
  ]);
});

test('anchors and merge keys work within a document', () => {
  const parsed = parseText(
    `${HEAD}spec: {prefix: /x, service: x, labels: {a: [{g: &g [remote_address, x]}], b: [{h: *g}]}}\n`,
  );
  assert.deepEqual(parsed.problems, []);
  const merged = parseText(
    `${HEAD}spec:\n  labels: {a: [{g: &c [b]}]}\n  <<: {prefix: /x, service: x}\n`,
  );
  assert.deepEqual(merged.problems, []);
  assert.equal(merged.resources.length, 1);
});

test('a key that stands twice is rejected, wherever it stands', () => {
  const parsed = parseText(
    `${HEAD}spec:\n  prefix: /x\n  service: x\n  headers:\n    a: b\n    a: c\n  prefix: /y\n`,
  );
  assert.deepEqual(problemLines(parsed), [
    '9 error spec.headers.a: `a` appears twice in one map. Keep one',
    '10 error spec.prefix: `prefix` appears twice in one map. Keep one',
  ]);
  assert.deepEqual(parsed.resources, []);
});

test('a kind List holds resources', () => {
  const item =
    '- apiVersion: gateway.internal/v2\n  kind: Mapping\n  metadata: {name: NAME}\n  spec: {prefix: /x, service: SERVICE}\n';
  const text = `apiVersion: v1\nkind: List\nitems:\n${item.replace('NAME', 'a').replace('SERVICE', 'x')}${item.replace('NAME', 'b').replace('SERVICE', '"-"')}`;
  const parsed = parseText(text);
  assert.deepEqual(
    parsed.resources.map(({ id, source }) => [id, source.line]),
    [['Mapping/default/a', 4]],
  );
  assert.deepEqual(
    parsed.problems.map(({ name, line }) => [name, line]),
    [['b', 11]],
  );
});

const POLICY = `apiVersion: gateway.internal/v2
kind: FilterPolicy
metadata: {name: p}
spec: {rules: [{path: /a, filters: [{name: t}]}]}
`;
const MAPPING = `apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: m}
spec: {prefix: /x, service: x}
`;
const listOf = (item: string) =>
  `apiVersion: v1\nitems:\n- ${item.trim().replaceAll('\n', '\n  ')}\nkind: List\nmetadata: {}\n`;
const TOLD = 'several resources are in one document. Write `---` between them, or keep one';

for (const [what, text, lines] of [
  ['resources', POLICY + MAPPING, [2, 6]],
  ['Lists', listOf(POLICY) + listOf(MAPPING), [4, 12]],
  ['a resource and a List', POLICY + listOf(MAPPING), [2, 8]],
  [
    'two `items` of a List',
    listOf(POLICY).replace('kind: List\n', '') + listOf(MAPPING).replace('apiVersion: v1\n', ''),
    [4, 10],
  ],
] as const)
  test(`${what} without \`---\` between them are rejected, and what they restrict is closed`, () => {
    const { problems, rejected, resources } = parseText(text);
    assert.deepEqual(resources, []);
    assert.deepEqual(
      rejected.map(({ id, rules }) => [id, rules]),
      [
        ['FilterPolicy/default/p', [{ host: '*', path: '/a' }]],
        ['Mapping/default/m', undefined],
      ],
    );
    assert.deepEqual(
      problems.map(({ line, message }) => [line, message]),
      lines.map(line => [line, TOLD]),
    );
  });

test('a line that is doubled makes no second resource, which might close everything', () => {
  const { problems, rejected } = parseText(POLICY.replace(/kind: .*\n/, line => line + line));
  assert.deepEqual(
    rejected.map(({ id, rules }) => [id, rules]),
    [['FilterPolicy/default/p', [{ host: '*', path: '/a' }]]],
  );
  assert.match(problems[0]?.message ?? '', /`kind` appears twice in one map/);
});

for (const items of ['Items: [{}]', 'items: {}', 'items: x'])
  test(`a List with \`${items}\` may hide what the file had before`, () => {
    const parsed = parseText(`apiVersion: v1\nkind: List\n${items}\n`);
    assert.equal(parsed.anonymous, true);
    assert.match(problemLines(parsed)[0] ?? '', /error .*a List has `items`/);
  });

for (const kind of ['list', 'LIST', 'Lists', 'Lsit'])
  test(`a list of kind ${kind} holds its file as it was, and is told`, () => {
    const { anonymous, problems, resources } = parseText(
      listOf(MAPPING).replace('kind: List', `kind: ${kind}`),
    );
    assert.deepEqual([anonymous, resources], [true, []]);
    assert.deepEqual(
      problems.map(({ severity, message }) => `${severity} ${message}`),
      [`error unknown kind \`${kind}\`, did you mean \`List\`?`],
    );
  });

for (const text of [
  'apiVersion: v1\nkind: Limits\nitems: []\n',
  'apiVersion: a.b/v1\nkind: list\nitems: []\n',
  'apiVersion: v1\nkind: list\n',
])
  test(`something else is no list: ${JSON.stringify(text)}`, () => {
    assert.deepEqual(parseText(text).problems, []);
  });

for (const text of ['apiVersion: v1\nkind: List\nitems:\n', 'apiVersion: a.b/v1\nkind: List\n'])
  test(`nothing is wrong with ${JSON.stringify(text)}, which has no resource`, () => {
    const { anonymous, problems, resources } = parseText(text);
    assert.deepEqual([anonymous, problems, resources], [false, [], []]);
  });

test('items that are merged into a List are read', () => {
  const text = `x: &x\n  items: [{${POLICY.trim().replaceAll('\n', ', ')}}]\n<<: *x\napiVersion: v1\nkind: List\n`;
  assert.deepEqual(
    parseText(text).resources.map(({ id }) => id),
    ['FilterPolicy/default/p'],
  );
});

test('a resource for another gateway is left alone, right or not', () => {
  for (const id of [
    'gateway_id: other',
    'Gateway_ID: other',
    'ambassador_id: [a, b]',
    'ambassadorId: other',
    'ambassador_id: null, ambassadorId: [other]',
  ]) {
    const parsed = parseText(`${HEAD}spec: {prefix: x, ${id}}\n`);
    assert.deepEqual([parsed.problems, parsed.resources, parsed.rejected], [[], [], []]);
  }
  const options = { apiGroups: ['example.org'], gatewayId: 'other' };
  const ours = parseFile(
    'r.yaml',
    'apiVersion: example.org/v2\nkind: Mapping\nmetadata: {name: x}\nspec: {prefix: /x, service: x, gateway_id: other}\n',
    options,
  );
  assert.equal(ours.resources.length, 1);
});

test('a resource that Emissary keeps as v3alpha1 is for the gateway behind its mark', () => {
  const kinds = (id: string) => {
    const { rejected, resources } = parseFile(
      'r.yaml',
      `apiVersion: example.org/v2\nkind: FilterPolicy\nmetadata: {name: x}\nspec: {ambassador_id: [${id}], rules: [{filters: [{name: a}]}]}\n`,
      { apiGroups: ['example.org'], gatewayId: 'default' },
    );
    return [...rejected, ...resources].map(each => each.kind);
  };
  assert.deepEqual(kinds('--apiVersion-v3alpha1-only--default'), ['FilterPolicy']);
  assert.deepEqual(kinds('other, --apiVersion-v3alpha1-only--default'), ['FilterPolicy']);
  assert.deepEqual(kinds('--apiVersion-v3alpha1-only--other'), []);
});

test('what belongs to Gateway API is for every gateway, since it names a controller', () => {
  const options = { apiGroups: ['example.org'], gatewayId: 'other' };
  const parsed = (kind: string, apiVersion: string) =>
    parseFile(
      'r.yaml',
      `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: x}\nspec: {}\n`,
      options,
    );
  for (const [kind, apiVersion] of [
    ['HTTPRoute', 'gateway.networking.k8s.io/v1'],
    ['Service', 'v1'],
  ] as const) {
    const { rejected, resources } = parsed(kind, apiVersion);
    assert.deepEqual(
      [...rejected, ...resources].map(each => each.kind),
      [kind],
    );
  }
  assert.deepEqual(parsed('Mapping', 'example.org/v2').rejected, []);
});

test('a rejected Mapping keeps its match when nothing is wrong with that', () => {
  const rejected = (spec: string) =>
    parseText(`${HEAD}spec: ${spec}\n`).rejected.map(({ match }) => match?.prefix);
  assert.deepEqual(rejected('{prefix: /x, service: "-"}'), ['/x']);
  assert.deepEqual(rejected('{prefix: /x}'), ['/x']);
  assert.deepEqual(rejected('{prefix: x, service: x}'), [undefined]);
  assert.deepEqual(rejected('{prefix: /x, host: "a:1", service: x}'), [undefined]);
  assert.deepEqual(rejected('{prefix: /x, host: a, Host: b, service: x}'), [undefined]);
  assert.deepEqual(rejected('{prefix: /x, prefix: /y, service: x}'), [undefined]);
  assert.deepEqual(rejected('[]'), [undefined]);
});

test('a rejected FilterPolicy tells which hosts and paths its rules cover', () => {
  const policy = (spec: string) =>
    parseText(
      `apiVersion: gateway.internal/v2\nkind: FilterPolicy\nmetadata: {name: p}\nspec: ${spec}\n`,
    ).rejected[0]?.rules;
  assert.deepEqual(
    policy('{rules: [{host: a, path: /b, filters: []}, {path: /c}, {host: [x]}, 5]}'),
    [{ host: 'a', path: '/b' }, { host: '*', path: '/c' }, { path: '*' }, {}],
  );
  assert.equal(policy('{rule: []}'), undefined);
});

const BROKEN: readonly [what: string, text: string, problem: string, id: string | undefined][] = [
  [
    'a tab',
    `${HEAD}spec:\n\tprefix: /x\n`,
    '5 error : Cannot read this YAML: a tab is used for indentation. Use spaces',
    'Mapping/default/x',
  ],
  [
    'an open quote',
    `${HEAD}spec: {prefix: "/x\n`,
    '5 error : Cannot read this YAML: a closing quote, bracket, comma or ":" is missing',
    'Mapping/default/x',
  ],
  [
    'a template that nobody has filled in',
    `${HEAD}spec:\n  prefix: {{ .Values.prefix }}\n`,
    '5 error : Cannot read this YAML: a key must be a string. Quote a value that begins with "{{", or fill in the template first',
    'Mapping/default/x',
  ],
  [
    'no name before the error',
    'apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: [x\n',
    '4 error : Cannot read this YAML: wrong indentation, or a bracket or quote before this is not closed',
    undefined,
  ],
  [
    'only garbage',
    '{{{ a\n',
    '2 error : Cannot read this YAML: wrong indentation, or a bracket or quote before this is not closed',
    undefined,
  ],
  [
    'an alias within what it stands for',
    'apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: &a\n  name: m\n  annotations: [*a]\nspec: {prefix: /a, service: x}\n',
    '5 error : Cannot read this YAML: an alias (`*name`) is within its own anchor (`&name`)',
    'Mapping/default/m',
  ],
  [
    'too many aliases',
    `a: &a [1]\nb: &b [${'*a,'.repeat(50)}]\nc: [${'*b,'.repeat(50)}]\n`,
    '2 error : Cannot read this YAML: its aliases expand to too much',
    undefined,
  ],
];

for (const [what, text, problem, id] of BROKEN) {
  test(`a document with ${what} is broken${id === undefined ? ', and nobody knows what it was' : ', but its name is known'}`, () => {
    const parsed = parseText(text);
    assert.deepEqual(problemLines(parsed), [problem]);
    assert.deepEqual(
      parsed.rejected.map(rejected => rejected.id),
      id === undefined ? [] : [id],
    );
    assert.equal(parsed.readable, id !== undefined);
    assert.equal(
      parsed.rejected[0]?.match,
      undefined,
      'a field behind the error might narrow the match',
    );
  });
}

test('a broken manifest of something else does not count as unreadable', () => {
  assert.equal(
    parseText('apiVersion: apps/v1\nkind: Deployment\nspec: {{ .Values.x }}\n').readable,
    true,
  );
});

test('deep nesting is rejected, not crashed on', () => {
  for (const text of [
    '['.repeat(100_000),
    '{a: '.repeat(20_000),
    '- '.repeat(20_000),
    `${HEAD}spec: ${'['.repeat(5000)}${']'.repeat(5000)}\n`,
  ]) {
    assert.equal(parseText(text).problems.length > 0, true);
  }
});
