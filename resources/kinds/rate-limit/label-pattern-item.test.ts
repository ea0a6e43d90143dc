import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  documentOf,
  parseText,
  problemLines,
  problemsOf,
} from '#resources/testing/problem-lines.ts';

const HEAD = 'apiVersion: getambassador.io/v2\nkind: RateLimit\nmetadata: {name: x}\n';

const written = (pattern: string, more = '') =>
  `${HEAD}spec:\n  domain: d\n  limits:\n  - rate: 1\n    unit: day\n    pattern: ${pattern}\n${more}`;

function patternsIn(text: string) {
  const parsed = parseText(text);
  assert.deepEqual(problemLines(parsed), []);
  return parsed.resources.flatMap(({ kind, spec }) =>
    kind === 'RateLimit' ? spec.limits.map(({ pattern }) => pattern) : [],
  );
}

const KEY1 = [
  { key: 'key1', value: 'A' },
  { key: 'key1', value: 'B' },
];

const READ_AS: readonly [text: string, pattern: unknown][] = [
  ['[]', []],
  ['[{key1: A}]', [[{ key: 'key1', value: 'A' }]]],
  ['[{key1: ""}]', [[{ key: 'key1' }]]],
  ['[{key1: "*"}]', [[{ key: 'key1' }]]],
  ['[{key1: "a*b"}]', [[{ key: 'key1', value: 'a*b' }]]],
  ['[{key1: A, key2: B}]', [[KEY1[0], { key: 'key2', value: 'B' }]]],
  ['[{key1: A, key1: B}, {key2: ""}]', [KEY1, [{ key: 'key2' }]]],
  ['\n    - key1: A\n      key1: B\n    - key2: ""', [KEY1, [{ key: 'key2' }]]],
  ['[[{key1: A}, {key1: B}]]', [KEY1]],
  ['[[{key1: A, key2: B}, {key1: B}]]', [[KEY1[0], { key: 'key2', value: 'B' }, KEY1[1]]]],
  ['[[{key1: A, key1: B}, {key2: B}]]', [[...KEY1, { key: 'key2', value: 'B' }]]],
  ['[{key1: A, key1: B, key1: ""}]', [[...KEY1, { key: 'key1' }]]],
  ['[{key1: 5e, "key1": \'B\'}]', [[{ key: 'key1', value: '5e' }, KEY1[1]]]],
  [
    '[{__proto__: A, __proto__: B}]',
    [
      [
        { key: '__proto__', value: 'A' },
        { key: '__proto__', value: 'B' },
      ],
    ],
  ],
  [
    '[{__proto__: A}, {constructor: B}]',
    [[{ key: '__proto__', value: 'A' }], [{ key: 'constructor', value: 'B' }]],
  ],
  ['[{<<: {key1: A, key1: B}}]', [KEY1]],
  ['[{key1: A, key1: B, <<: {key1: C, key2: D}}]', [[...KEY1, { key: 'key2', value: 'D' }]]],
  ['[{<<: [{key1: A, key1: B}, {key1: C, k: ""}]}]', [[...KEY1, { key: 'k' }]]],
  [
    '[{"<<": A, "<<": B}]',
    [
      [
        { key: '<<', value: 'A' },
        { key: '<<', value: 'B' },
      ],
    ],
  ],
  [
    '[{🔑: é, 🔑: B}]',
    [
      [
        { key: '🔑', value: 'é' },
        { key: '🔑', value: 'B' },
      ],
    ],
  ],
];

for (const [text, pattern] of READ_AS) {
  test(`the pattern ${JSON.stringify(text)} is read pair by pair`, () => {
    assert.deepEqual(patternsIn(written(text)), [pattern]);
  });
}

const ALIASED: readonly [what: string, text: string, patterns: unknown][] = [
  ['an item', written('[&i {key1: A, key1: B}, *i]'), [[KEY1, KEY1]]],
  [
    'a value',
    written('[{key0: &v A, key1: *v, key1: B}]'),
    [[[{ key: 'key0', value: 'A' }, ...KEY1]]],
  ],
  [
    'a pattern',
    written('&p [{key1: A, key1: B}]', '  - {rate: 1, unit: hour, pattern: *p}\n'),
    [[KEY1], [KEY1]],
  ],
  [
    'a merged item',
    written('[&i {key1: A, key1: B}, {<<: *i, k: ""}]'),
    [[KEY1, [{ key: 'k' }, ...KEY1]]],
  ],
  [
    'a merged limit',
    `${HEAD}spec:\n  domain: d\n  limits:\n  - &l\n    rate: 1\n    unit: day\n    pattern: [{key1: A, key1: B}]\n  - {<<: *l, unit: hour}\n`,
    [[KEY1], [KEY1]],
  ],
];

for (const [what, text, patterns] of ALIASED) {
  test(`a label that stands twice counts twice where ${what} is an alias`, () => {
    assert.deepEqual(patternsIn(text), patterns);
  });
}

test('a label may stand twice in each RateLimit of a kind List', () => {
  const item = (name: string, pattern: string) =>
    `- {apiVersion: gateway.internal/v2, kind: RateLimit, metadata: {name: ${name}}, spec: {domain: d, limits: [{rate: 1, unit: day, pattern: ${pattern}}]}}\n`;
  const text = `apiVersion: v1\nkind: List\nitems:\n${item('a', '&p [{key1: A, key1: B}]')}${item('b', '*p')}${item('c', '[{key1: A}]')}`;
  assert.deepEqual(patternsIn(text), [[KEY1], [KEY1], [[KEY1[0]]]]);
});

test('the document that is kept has every label, and gives the same resource when it is parsed again', () => {
  const [resource] = parseText(written('[{key1: A, key1: B}, {key2: ""}]')).resources;
  assert.deepEqual(resource?.document?.spec, {
    domain: 'd',
    limits: [{ rate: 1, unit: 'day', pattern: [[{ key1: 'A' }, { key1: 'B' }], { key2: '' }] }],
  });
  const [again] = parseText(JSON.stringify(resource?.document)).resources;
  assert.deepEqual(
    [again?.spec, again?.hash, again?.document],
    [resource?.spec, resource?.hash, resource?.document],
  );
});

test('a document in which no label stands twice is kept as it was written', () => {
  const [resource] = parseText(written('[{key1: A, key2: B}, [{a: b}]]')).resources;
  const pattern = [{ key1: 'A', key2: 'B' }, [{ a: 'b' }]];
  assert.deepEqual(resource?.document?.spec, {
    domain: 'd',
    limits: [{ rate: 1, unit: 'day', pattern }],
  });
});

test('RateLimits that differ only in a label that stands twice have other hashes', () => {
  const hashes = ['[{key1: A, key1: B}]', '[{key1: C, key1: B}]', '[{key1: B}]'].map(
    text => parseText(written(text)).resources[0]?.hash,
  );
  assert.equal(new Set(hashes).size, 3);
});

const TWICE: readonly [what: string, text: string, problem: string][] = [
  ['of a limit', written('[{a: b}]', '    rate: 2\n'), '10 error spec.limits[0].rate: `rate`'],
  [
    'of a limit beside a pattern with one',
    written('[{a: b, a: c}]', '    rate: 2\n'),
    '10 error spec.limits[0].rate: `rate`',
  ],
  ['of the spec', written('[{a: b, a: c}]', '  domain: e\n'), '10 error spec.domain: `domain`'],
  [
    'of a header',
    written('[{a: b, a: c}]', '    injectRequestHeaders: [{name: a, name: b, value: c}]\n'),
    '10 error spec.limits[0].injectRequestHeaders[0].name: `name`',
  ],
  [
    "of a header that is a pattern's item",
    written('[&i {name: a, name: b, value: c}]', '    injectRequestHeaders: [*i]\n'),
    '9 error spec.limits[0].injectRequestHeaders[0].name: `name`',
  ],
];

for (const [what, text, problem] of TWICE) {
  test(`a key ${what} that stands twice is rejected`, () => {
    const parsed = parseText(text);
    assert.deepEqual(problemLines(parsed), [`${problem} appears twice in one map. Keep one`]);
    assert.deepEqual(parsed.resources, []);
  });
}

test('in other kinds a label that stands twice is rejected', () => {
  const text = written('[{key1: A, key1: B}]').replace('kind: RateLimit', 'kind: Mapping');
  assert.ok(problemLines(parseText(text)).some(line => line.includes('`key1` appears twice')));
});

const ANY = 'a map from label key to value, `""` or `"*"` for any value';
const REFUSED: readonly [item: unknown, problem: string][] = [
  [{}, 'an item of a pattern needs a label. A pattern for every label group is []'],
  [[], 'an item of a pattern needs a label. A pattern for every label group is []'],
  [[{}], 'an item of a pattern needs a label. A pattern for every label group is []'],
  [null, `an item of a pattern must be ${ANY}`],
  ['remote_address', `an item of a pattern must be ${ANY}`],
  [5, `an item of a pattern must be ${ANY}`],
  [['a'], `an item of a pattern must be ${ANY}`],
  [{ '': 'a' }, 'a label of a pattern needs a key that is not empty'],
  [{ k: 5 }, 'the value of "k" must be a string, not a number. Quote it, as in "5"'],
  [{ k: true }, 'the value of "k" must be a string, not true. Quote it, as in "true"'],
  [{ k: null }, 'the value of "k" must be a string. Write "" for any value'],
  [
    { k: ['A', 'B'] },
    'the value of "k" must be a string. Alternatives are written { key: a, key: b }',
  ],
  [{ k: {} }, 'the value of "k" must be a string. Alternatives are written { key: a, key: b }'],
  [[{ k: 'a' }, { k: 5 }], 'the value of "k" must be a string, not a number. Quote it, as in "5"'],
];

for (const [item, problem] of REFUSED) {
  test(`the item ${JSON.stringify(item)} of a pattern is rejected`, () => {
    const spec = { domain: 'd', limits: [{ rate: 1, unit: 'day', pattern: [{ a: 'b' }, item] }] };
    assert.deepEqual(problemsOf('RateLimit', spec), [
      `error spec.limits[0].pattern[1]: ${problem}`,
    ]);
    assert.deepEqual(parseText(documentOf('RateLimit', spec)).resources, []);
  });
}

test('a label that stands twice is checked each time', () => {
  for (const value of ['5', '{}', '[]', '', 'true', '{a: b}', '[A]']) {
    const [line = '', ...others] = problemLines(
      parseText(written(`\n    - k: A\n      k: ${value}\n      k: B`)),
    );
    assert.match(
      line,
      /^10 error spec\.limits\[0\]\.pattern\[0\]: the value of "k" must be a string/,
    );
    assert.deepEqual(others, []);
  }
});

test('an alias to an anchor that is not in a pattern does not excuse a key that stands twice', () => {
  const text = `${HEAD}spec:\n  x: &i {a: b, a: c}\n  domain: d\n  limits: [{rate: 1, unit: day, pattern: [*i]}]\n`;
  assert.ok(
    problemLines(parseText(text)).includes(
      '5 error spec.x.a: `a` appears twice in one map. Keep one',
    ),
  );
});

test('deep and circular aliases in a pattern do no harm', () => {
  for (const pattern of [
    '&p [*p]',
    '[&i {a: *i, a: b}]',
    '[&i {<<: *i, a: b, a: c}]',
    '&p [{<<: *p, a: b, a: c}]',
  ]) {
    assert.notDeepEqual(problemLines(parseText(written(pattern))), []);
  }
});
