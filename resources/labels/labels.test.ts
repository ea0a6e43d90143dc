import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';

const FORM =
  '`source_cluster`, `destination_cluster`, `remote_address`, a string, { generic_key: value }, { key: { header: name } } or { key: { path: true } }';

const withLabels = (labels: unknown) => ({ prefix: '/user', service: 'user', labels });

function labelsOf(labels: unknown) {
  const [resource] = parseText(documentOf('Mapping', withLabels(labels))).resources;
  return resource?.kind === 'Mapping' ? resource.spec.labels : undefined;
}

const READ_AS: readonly [specifier: unknown, label: object][] = [
  ['source_cluster', { type: 'source_cluster' }],
  ['destination_cluster', { type: 'destination_cluster' }],
  ['remote_address', { type: 'remote_address' }],
  [{ generic_key: 'v' }, { type: 'generic_key', value: 'v' }],
  [{ generic_key: 'remote_address' }, { type: 'generic_key', value: 'remote_address' }],
  ['v', { type: 'generic_key', value: 'v' }],
  ['Remote_Address', { type: 'generic_key', value: 'Remote_Address' }],
  ['5', { type: 'generic_key', value: '5' }],
  [{ k: { header: 'x-user' } }, { type: 'request_header', key: 'k', header: 'x-user' }],
  [
    { k: { header: 'x', omit_if_not_present: true } },
    { type: 'request_header', key: 'k', header: 'x' },
  ],
  [
    { k: { header: 'x', omit_if_not_present: null } },
    { type: 'request_header', key: 'k', header: 'x' },
  ],
  [{ k: { header: 'X-User' } }, { type: 'request_header', key: 'k', header: 'x-user' }],
  [{ k: { header: 'Host' } }, { type: 'request_header', key: 'k', header: ':authority' }],
  [{ k: { header: ':authority' } }, { type: 'request_header', key: 'k', header: ':authority' }],
  [{ k: { header: ':method' } }, { type: 'request_header', key: 'k', header: ':method' }],
  [{ k: { path: true } }, { type: 'path', key: 'k' }],
  [{ K: { header: 'x' } }, { type: 'request_header', key: 'K', header: 'x' }],
  [{ generic_key: { header: 'x' } }, { type: 'request_header', key: 'generic_key', header: 'x' }],
  [
    JSON.parse('{"__proto__": {"header": "x"}}'),
    { type: 'request_header', key: '__proto__', header: 'x' },
  ],
];

for (const [specifier, label] of READ_AS) {
  test(`the label specifier ${JSON.stringify(specifier)} is read as ${JSON.stringify(label)}`, () => {
    const labels = { gateway: [{ g: [specifier] }] };
    assert.deepEqual(labelsOf(labels), { gateway: [{ name: 'g', specifiers: [label] }] });
    assert.deepEqual(problemsOf('Mapping', withLabels(labels)), []);
  });
}

const REFUSED: readonly [specifier: unknown, problem: string][] = [
  [
    { k: { header: 'x', omit_if_not_present: false } },
    'the label "k" must have `omit_if_not_present: true`: without its header the group is always left out',
  ],
  [
    { k: { omit_if_not_present: true } },
    'the label "k" needs `header`, the name of a request header',
  ],
  [{ k: { header: 5 } }, 'the label "k" needs `header`, the name of a request header'],
  [{ k: { header: 'x', value: 'y' } }, 'the label "k" has an unknown field `value`'],
  [
    { k: { header: 'x y' } },
    '"x y" is not a header name: letters, digits and !#$%&\'*+-.^_`|~ only',
  ],
  [
    { k: { header: ':status' } },
    '":status" is no header of a request. Of those with ":" there are :authority, :method, :path, :scheme',
  ],
  [{ k: 'v' }, 'the label "k" must be { header: name }'],
  [
    { remote_address: { key: 'remote_address' } },
    'the label "remote_address" has an unknown field `key`. Write the string remote_address',
  ],
  [
    { source_cluster: null },
    'the label "source_cluster" must be { header: name }. Write the string source_cluster',
  ],
  [
    { destination_cluster: {} },
    'the label "destination_cluster" needs `header`, the name of a request header. Write the string destination_cluster',
  ],
  [
    { generic_key: { key: 'generic_key', value: 'v' } },
    'the label "generic_key" has an unknown field `key`. Write { generic_key: value }. Limits match it by `generic_key` in their `pattern`',
  ],
  [
    { request_headers: { header_name: 'x', key: 'k' } },
    'the label "request_headers" has an unknown field `header_name`. Write { key: { header: name } }, with the key of the label',
  ],
  [{ '': { header: 'x' } }, 'a label needs a key that is not empty'],
  ['', 'a label needs a value that is not empty'],
  [{ generic_key: '' }, 'a label needs a value that is not empty'],
  [
    'RateLimit/infra/gw/0',
    '`generic_key` with "RateLimit/<namespace>/<name>/<number>" is the label of a RateLimit with `targetRefs`, which alone may give it',
  ],
  [
    { generic_key: 5 },
    'the value of `generic_key` must be a string, not a number. Quote it, as in "5"',
  ],
  [
    { generic_key: true },
    'the value of `generic_key` must be a string, not true. Quote it, as in "true"',
  ],
  [{ generic_key: null }, 'the value of `generic_key` must be a string'],
  [5, `a label specifier must be ${FORM}, not a number. Quote it, as in "5"`],
  [false, `a label specifier must be ${FORM}, not false. Quote it, as in "false"`],
  [null, `a label specifier must be ${FORM}`],
  [['a'], `a label specifier must be ${FORM}`],
  [{}, `a label specifier is ${FORM}, with one key, not 0`],
  [
    { generic_key: 'a', v3Key: 'b' },
    'a fixed label has no key of its own: leave out `v3Key`. Limits match it by `generic_key` in their `pattern`',
  ],
  [{ a: { header: 'x' }, b: { header: 'y' } }, `a label specifier is ${FORM}, with one key, not 2`],
];

for (const [specifier, problem] of REFUSED) {
  test(`the label specifier ${JSON.stringify(specifier)} leaves out its group alone, with a Problem`, () => {
    const labels = {
      gateway: [{ bad: ['a', specifier] }, { good: ['b'] }],
      other: [{ good: ['c'] }],
    };
    assert.deepEqual(problemsOf('Mapping', withLabels(labels)), [
      `error spec.labels.gateway[0].bad[1]: ${problem}`,
    ]);
    assert.deepEqual(labelsOf(labels), {
      gateway: [{ name: 'good', specifiers: [{ type: 'generic_key', value: 'b' }] }],
      other: [{ name: 'good', specifiers: [{ type: 'generic_key', value: 'c' }] }],
    });
  });
}

const GROUPS: readonly [group: unknown, problem: string][] = [
  [
    { a: ['x'], b: ['y'] },
    ': a label group is a map with one key, its name, not 2. Begin each group with its own "-"',
  ],
  [{}, ': a label group is a map with one key, its name, not 0. Begin each group with its own "-"'],
  [{ g: [] }, '.g: `g` must not be empty'],
  [{ g: 'remote_address' }, '.g: `g` must be a list of label specifiers, not "remote_address"'],
  [{ g: null }, '.g: `g` must be a list of label specifiers, not nothing'],
  [
    'remote_address',
    ': an item of `gateway` must be one group name with its list of label specifiers, not "remote_address"',
  ],
];

for (const [group, problem] of GROUPS) {
  test(`the label group ${JSON.stringify(group)} is left out alone, with a Problem`, () => {
    const labels = { gateway: [group, { good: ['b'] }] };
    assert.deepEqual(problemsOf('Mapping', withLabels(labels)), [
      `error spec.labels.gateway[0]${problem}`,
    ]);
    assert.deepEqual(labelsOf(labels), {
      gateway: [{ name: 'good', specifiers: [{ type: 'generic_key', value: 'b' }] }],
    });
  });
}

test('a label group keeps the order of its labels, and keys may repeat', () => {
  assert.deepEqual(labelsOf({ gateway: [{ g: ['b', 'a', 'b'] }] }), {
    gateway: [
      { name: 'g', specifiers: ['b', 'a', 'b'].map(value => ({ type: 'generic_key', value })) },
    ],
  });
});

test('two label groups may have the same name', () => {
  const labels = labelsOf({ gateway: [{ g: ['a'] }, { g: ['b'] }] });
  assert.deepEqual(labels?.gateway?.length, 2);
});

test('a label domain without groups counts as not mentioned', () => {
  for (const labels of [{ gateway: null, other: [] }, {}, null])
    assert.deepEqual(labelsOf(labels), {});
});

test('a name that every object has may be the name of a group', () => {
  const labels = { constructor: [{ toString: ['a'] }] };
  assert.deepEqual(labelsOf(labels), {
    constructor: [{ name: 'toString', specifiers: [{ type: 'generic_key', value: 'a' }] }],
  });
});

for (const [labels, field] of [
  ['{"__proto__": [{"g": ["a"]}]}', 'labels.__proto__'],
  ['{"gateway": [{"__proto__": ["a"]}]}', 'labels.gateway[0].__proto__'],
] as const) {
  test(`__proto__ is no name: ${labels}`, () => {
    const [problem] = problemsOf('Mapping', withLabels(JSON.parse(labels)));
    assert.equal(problem, `error spec.${field}: "__proto__" may not be a key here`);
  });
}

describe('default labels', () => {
  const read = (default_labels: unknown) => {
    const [resource] = parseText(
      documentOf('Module', { config: { default_labels } }, 'gateway'),
    ).resources;
    return resource?.kind === 'Module' ? resource.spec.config.default_labels : undefined;
  };

  test('are a list of label specifiers for each domain', () => {
    assert.deepEqual(
      read({
        a: { defaults: ['x', { k: { header: 'Host' } }] },
        b: { defaults: ['remote_address'] },
      }),
      {
        a: {
          defaults: [
            { type: 'generic_key', value: 'x' },
            { type: 'request_header', key: 'k', header: ':authority' },
          ],
        },
        b: { defaults: [{ type: 'remote_address' }] },
      },
    );
  });

  test('may be none for a domain', () => {
    const config = {
      default_labels: { a: { defaults: [] }, b: {}, c: { defaults: null }, d: null },
    };
    assert.deepEqual(problemsOf('Module', { config }, 'gateway'), []);
    assert.deepEqual(read(config.default_labels), {
      a: { defaults: [] },
      b: { defaults: [] },
      c: { defaults: [] },
      d: { defaults: [] },
    });
  });

  for (const [, problem] of REFUSED.slice(0, 1)) {
    test('with `omit_if_not_present: false` are left out for their domain, with a Problem', () => {
      const specifier = { k: { header: 'x', omit_if_not_present: false } };
      const config = { default_labels: { a: { defaults: [specifier] }, b: { defaults: ['x'] } } };
      assert.deepEqual(problemsOf('Module', { config }, 'gateway'), [
        `error spec.config.default_labels.a.defaults[0]: ${problem}`,
      ]);
      assert.deepEqual(Object.keys(read(config.default_labels) ?? {}), ['b']);
    });
  }

  test('written as label groups, as in a Mapping, are a Problem', () => {
    assert.deepEqual(
      problemsOf('Module', { config: { default_labels: { a: [{ g: ['x'] }] } } }, 'gateway'),
      ['error spec.config.default_labels.a: `a` must be a map, not a list'],
    );
  });
});
