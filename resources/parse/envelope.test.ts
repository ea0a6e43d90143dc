import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseText, problemLines } from '#resources/testing/problem-lines.ts';

const SPEC = 'metadata: {name: x}\nspec: {prefix: /x, service: x}\n';

const IGNORED = [
  'apiVersion: apps/v1\nkind: Deployment\n',
  'apiVersion: networking.istio.io/v1\nkind: ProxyConfig\n',
  'apiVersion: external-secrets.io/v1\nkind: Secret\n',
  '# only a comment\n',
  '---\n',
  'null\n',
  '',
];

for (const text of IGNORED) {
  test(`${JSON.stringify(text)} is none of ours and no mistake`, () => {
    const { problems, resources, rejected, readable } = parseText(text);
    assert.deepEqual(
      { problems, resources, rejected, readable },
      { problems: [], resources: [], rejected: [], readable: true },
    );
  });
}

const BOTH = '`gateway.internal/v2` or `getambassador.io/v2`';
const REFUSED: readonly [head: string, problem: string, kind: string][] = [
  [
    'apiVersion: getambassador.io/v1\nkind: Mapping',
    `1 error apiVersion: \`getambassador.io/v1\` is not read for Mapping. Write ${BOTH}`,
    'Mapping',
  ],
  [
    'apiVersion: getambassador.io/v3alpha1\nkind: Mapping',
    `1 error apiVersion: \`getambassador.io/v3alpha1\` is not read for Mapping. Write ${BOTH}`,
    'Mapping',
  ],
  [
    'apiVersion: getambassador.io\nkind: Mapping',
    `1 error apiVersion: the group "" is not read. Write ${BOTH}`,
    'Mapping',
  ],
  [
    'apiVersion: v2\nkind: Mapping',
    `1 error apiVersion: the group "" is not read. Write ${BOTH}`,
    'Mapping',
  ],
  [
    'apiVersion: getambasador.io/v2\nkind: Mapping',
    '1 error apiVersion: the group "getambasador.io" is not read, did you mean `getambassador.io`?',
    'Mapping',
  ],
  ['kind: Mapping', `1 error apiVersion: \`apiVersion\` is required: ${BOTH}`, 'Mapping'],
  [
    'apiVersion: x.getambassador.io/v3alpha1\nkind: AmbassadorHost',
    '1 error apiVersion: the group "x.getambassador.io" is not read, did you mean `getambassador.io`?',
    'Host',
  ],
  [
    'apiVersion: getambassador.io/v2\nkind: AmbassadorMapping',
    '2 error kind: unknown kind `AmbassadorMapping`, did you mean `Mapping`?',
    'Mapping',
  ],
  [
    'apiVersion: gateway.internal/v2\nkind: Maping',
    '2 error kind: unknown kind `Maping`, did you mean `Mapping`?',
    'Mapping',
  ],
  [
    'apiVersion: gateway.internal/v2\nkind: mapping',
    '2 error kind: unknown kind `mapping`, did you mean `Mapping`?',
    'Mapping',
  ],
  [
    'apiVersion: getambassador.io/v3alpha1\nkind: TCPMapping',
    '2 error kind: TCPMapping is not served: write a Gateway and a TCPRoute or TLSRoute of Gateway API in its place',
    'TCPMapping',
  ],
  [
    'apiVersion: getambassador.io/v2\nkind: AuthService',
    '2 warning kind: AuthService is not served: write a Filter and a FilterPolicy in its place',
    'AuthService',
  ],
];

for (const [head, problem, kind] of REFUSED) {
  test(`${JSON.stringify(head)} is rejected by name`, () => {
    const parsed = parseText(`${head}\n${SPEC}`);
    assert.deepEqual(problemLines(parsed), [problem]);
    assert.deepEqual(
      parsed.rejected.map(({ id }) => id),
      [`${kind}/default/x`],
    );
  });
}

test('an unknown kind of our group is a mistake of which nothing can be known', () => {
  const parsed = parseText(`apiVersion: gateway.internal/v2\nkind: Wombat\n${SPEC}`);
  assert.deepEqual(problemLines(parsed), ['2 error kind: unknown kind `Wombat`']);
  assert.deepEqual(parsed.rejected, []);
});

test('a document of our group without a kind is a mistake, which names the kinds that are served', () => {
  const [line = ''] = problemLines(parseText(`apiVersion: gateway.internal/v2\n${SPEC}`));
  assert.match(
    line,
    /`kind` is required: one of Filter, FilterPolicy, Host, Listener, LogService, /,
  );
  assert.match(line, /, TracingService$/);
});

const RULES = 'spec: {rules: [{path: /a/*, filters: [{name: f}]}]}';
const WITHOUT_KIND: readonly [written: string, rest: string, rejected: readonly string[]][] = [
  ['Kind: FilterPolicy', RULES, ['FilterPolicy /a/*']],
  ['knid: filterpolicy', RULES, ['FilterPolicy /a/*']],
  ['kind:\nKind: FilterPolicy', RULES, ['FilterPolicy /a/*']],
  ['kind: [FilterPolicy]', RULES, ['FilterPolicy /a/*']],
  ['kind: [FilterPolicy, Mapping]', RULES, ['FilterPolicy /a/*']],
  ["kind: ''", RULES, ['FilterPolicy /a/*']],
  ['kind:', RULES, ['FilterPolicy /a/*']],
  ['kind: 5', RULES, ['FilterPolicy /a/*']],
  ['kind: {}', RULES, ['FilterPolicy /a/*']],
  ['labels: {}', RULES, ['FilterPolicy /a/*']],
  ['Kind: Wombat', RULES, ['FilterPolicy /a/*']],
  [
    'kind:',
    'spec: {targetRefs: [{kind: Gateway, name: g}], filters: [{name: f}]}',
    ['FilterPolicy Gateway'],
  ],
  ['Kind: Mapping', 'spec: {prefix: /x/, service: x}', ['Mapping /x/']],
  ['kind: [Mapping]', 'spec: {prefix: /x/, service: x}', ['Mapping /x/']],
  ['Kind: AuthService', 'spec: {auth_service: x}', ['AuthService ']],
  ['kind:', 'spec: {prefix: /x/, service: x}', []],
  ['kind:', 'spec: {rules: [{path: /a/*}]}', []],
  ['kind:', 'spec: {rules: 5}', []],
];
for (const [written, rest, expected] of WITHOUT_KIND)
  test(`with \`${written}\` the document \`${rest}\` closes what it means: ${expected.join() || 'nothing'}`, () => {
    const text = `apiVersion: gateway.internal/v2\n${written}\nmetadata: {name: x}\n${rest}\n`;
    const { problems, rejected } = parseText(text);
    assert.deepEqual(
      problems.map(({ severity }) => severity),
      ['error'],
    );
    assert.deepEqual(
      rejected.map(({ kind, match, rules = [], targets = [] }) => {
        const covers = [
          match?.prefix,
          ...rules.map(each => each.path),
          ...targets.map(each => each.kind),
        ];
        return `${kind} ${covers.filter(each => each !== undefined).join()}`;
      }),
      expected,
    );
  });

test('a misspelt `kind` is a Problem of its own', () => {
  assert.deepEqual(
    problemLines(parseText(`apiVersion: gateway.internal/v2\nKind: Mapping\n${SPEC}`)),
    ['2 error Kind: unknown field `Kind`, did you mean `kind`?'],
  );
});

test('a document that is no resource at all is warned of, when it is a map, and else rejected', () => {
  assert.deepEqual(problemLines(parseText('# x\nreplicas: 3\n')), [
    '2 warning : this has neither `apiVersion` nor `kind`. It is ignored',
  ]);
  for (const text of [
    'apiVersion: gatew\n',
    'apiVersion: v1\nkind:\n',
    'apiVersion: v1\nkind: 5\n',
  ])
    assert.deepEqual(problemLines(parseText(text)), [
      '1 warning : this has an `apiVersion` and no `kind`. It is ignored',
    ]);
  assert.deepEqual(problemLines(parseText('hello\n')), [
    '1 error : a resource is a map with `apiVersion`, `kind`, `metadata` and `spec`',
  ]);
});

const METADATA: readonly [metadata: string, problem: string, id: string][] = [
  ['{}', '3 error metadata.name: `metadata.name` is required', 'Mapping/default/'],
  ['{name: 5}', '3 error metadata.name: `name` must be a string. Quote it', 'Mapping/default/'],
  [
    '{name: A_b}',
    '3 error metadata.name: "A_b" is not a name: lower-case letters, digits, "-" and "." only, 253 at most',
    'Mapping/default/A_b',
  ],
  [
    '{name: a, namespace: B}',
    '3 error metadata.namespace: "B" is not a namespace: lower-case letters, digits and "-" only, 63 at most',
    'Mapping/B/a',
  ],
  [
    '{name: a, namespace: 1}',
    '3 error metadata.namespace: `namespace` must be a string. Quote it',
    'Mapping/default/a',
  ],
  ['[a]', '3 error metadata.name: `metadata.name` is required', 'Mapping/default/'],
];

for (const [metadata, problem, id] of METADATA) {
  test(`metadata ${metadata} is rejected`, () => {
    const text = `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: ${metadata}\nspec: {prefix: /x, service: x}\n`;
    const parsed = parseText(text);
    assert.deepEqual(problemLines(parsed), [problem]);
    assert.deepEqual(
      parsed.rejected.map(rejected => rejected.id),
      [id],
    );
  });
}

test('a field beside spec is warned of, and told its place when it has one', () => {
  const text =
    'apiVersion: gateway.internal/v2\nkind: Mapping\nprefix: /x\nstatuss: 1\nmetadata: {name: x}\nspec: {prefix: /x, service: x}\n';
  assert.deepEqual(problemLines(parseText(text)), [
    '3 warning prefix: `prefix` belongs below `spec`',
    '4 warning statuss: unknown field `statuss`, did you mean `status`?',
  ]);
});
