import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';
import type { FilterPolicySpec } from './filter-policy.ts';

function read(spec: object): FilterPolicySpec {
  const [resource] = parseText(documentOf('FilterPolicy', spec)).resources;
  if (resource?.kind !== 'FilterPolicy')
    throw new Error(problemsOf('FilterPolicy', spec).join('\n'));
  return resource.spec;
}

const problems = (spec: object) =>
  problemsOf('FilterPolicy', spec).map(line => line.replace('spec.', ''));
const oneFilter = (filter: object) => ({ rules: [{ filters: [{ name: 'f', ...filter }] }] });
const withArguments = (args: unknown) => oneFilter({ arguments: args });

test('what is left out has its default', () => {
  assert.deepEqual(read({ rules: [{ filters: [{ name: 'f' }] }] }), {
    precedence: 0,
    rules: [
      {
        host: '*',
        path: '*',
        filters: [{ name: 'f', onDeny: 'break', onAllow: 'continue', arguments: {} }],
      },
    ],
    gateway_id: ['default'],
  });
});

test('what a cluster with Edge Stack writes for nothing counts as left out', () => {
  const empty = { name: '', negate: false, value: '', valueRegex: '' };
  const written = oneFilter({ ifRequestHeader: empty, onAllow: '', onDeny: '' });
  assert.deepEqual(read(written), read(oneFilter({})));
  assert.deepEqual(
    problems(written),
    ['ifRequestHeader', 'onAllow', 'onDeny'].map(
      field => `warning rules[0].filters[0].${field}: an empty one counts as left out. Remove it`,
    ),
  );
  const named = { ...empty, name: 'x-a', valueRegex: '^b$' };
  assert.deepEqual(
    read(oneFilter({ ifRequestHeader: named })).rules[0]?.filters[0]?.ifRequestHeader,
    {
      name: 'x-a',
      negate: false,
      valueRegex: '^b$',
    },
  );
});

test('an empty value by itself is an error, since it could mean an empty header', () => {
  assert.deepEqual(problems(oneFilter({ ifRequestHeader: { name: 'x-a', value: '' } })), [
    'error rules[0].filters[0].ifRequestHeader.value: `value` must not be empty',
  ]);
});

for (const rule of [{}, { filters: null }, { filters: [] }]) {
  test(`a rule with ${JSON.stringify(rule)} runs no filters`, () => {
    assert.deepEqual(read({ rules: [rule] }).rules[0]?.filters, []);
    assert.deepEqual(problems({ rules: [rule] }), []);
  });
}

test('no rules are rules too', () => {
  assert.deepEqual(read({ rules: [] }).rules, []);
});

test('host and path are globs, the host as it is compared', () => {
  const [rule] = read({ rules: [{ host: '*.Example.com.', path: '/a/**' }] }).rules;
  assert.deepEqual([rule?.host, rule?.path], ['*.example.com', '/a/**']);
});

test('a path that is written like a pattern of another language has a warning', () => {
  const said = (path: string) => problems({ rules: [{ path, filters: [{ name: 'f' }] }] });
  for (const [path, sign] of [
    ['/a/{b,c}/*', '{'],
    ['/users/{id}', '{'],
    ['/users/[0-9]*', '['],
    ['/(a|b)/*', '|'],
    ['/a/.*', '.'],
  ] as const)
    assert.deepEqual(said(path), [
      `warning rules[0].path: \`${sign}\` stands for itself in a path: \`*\` alone is a pattern, for any run of characters`,
    ]);
  for (const path of ['/a.b/*', '/a/*.*', '/Orders(5)/$value', '/me:login', '/.well-known/*'])
    assert.deepEqual(said(path), []);
});

test('precedence is an integer of either sign', () => {
  assert.equal(read({ precedence: -5, rules: [] }).precedence, -5);
});

/** One row for each field of a filter, and for each argument. */
const ACCEPTED: readonly [filter: object, meant: object][] = [
  [{ namespace: 'n' }, { namespace: 'n' }],
  [
    { ifRequestHeader: { name: 'X-A', negate: true } },
    { ifRequestHeader: { name: 'x-a', negate: true } },
  ],
  [
    { ifRequestHeader: { name: 'a', value: 'b' } },
    { ifRequestHeader: { name: 'a', negate: false, value: 'b' } },
  ],
  [
    { ifRequestHeader: { name: 'a', valueRegex: '^b' } },
    { ifRequestHeader: { name: 'a', negate: false, valueRegex: '^b' } },
  ],
  [{ onDeny: 'continue' }, { onDeny: 'continue' }],
  [{ onAllow: 'break' }, { onAllow: 'break' }],
  [{ arguments: null }, { arguments: {} }],
  [{ arguments: { scope: null } }, { arguments: {} }],
  [{ arguments: { scope: [] } }, { arguments: { scope: [] } }],
  [{ arguments: { scope: ['b', 'a', 'b'] } }, { arguments: { scope: ['b', 'a'] } }],
  [
    { arguments: { scope: ['https://api/read', 'a:b'] } },
    { arguments: { scope: ['https://api/read', 'a:b'] } },
  ],
  [{ arguments: { insteadOfRedirect: {} } }, { arguments: { insteadOfRedirect: {} } }],
  [
    { arguments: { insteadOfRedirect: { httpStatusCode: 401 } } },
    { arguments: { insteadOfRedirect: { httpStatusCode: 401 } } },
  ],
  [
    { arguments: { insteadOfRedirect: { ifRequestHeader: { name: 'a' } } } },
    { arguments: { insteadOfRedirect: { ifRequestHeader: { name: 'a', negate: false } } } },
  ],
  [
    {
      arguments: {
        insteadOfRedirect: {
          filters: [{ name: 'j', onDeny: 'continue', arguments: { scope: ['a'] } }],
        },
      },
    },
    {
      arguments: {
        insteadOfRedirect: {
          filters: [
            { name: 'j', onDeny: 'continue', onAllow: 'continue', arguments: { scope: ['a'] } },
          ],
        },
      },
    },
  ],
  [{ arguments: { sameSite: 'lax' } }, { arguments: { sameSite: 'lax' } }],
  [{ arguments: { sameSite: 'Strict' } }, { arguments: { sameSite: 'strict' } }],
  [{ arguments: { sameSite: 'NONE' } }, { arguments: { sameSite: 'none' } }],
];

for (const [filter, meant] of ACCEPTED) {
  test(`${JSON.stringify(filter)} is taken`, () => {
    const defaults = { name: 'f', onDeny: 'break', onAllow: 'continue', arguments: {} };
    assert.deepEqual(read(oneFilter(filter)).rules[0]?.filters, [{ ...defaults, ...meant }]);
    assert.deepEqual(problems(oneFilter(filter)), []);
  });
}

test('scopes is a deprecated name of scope', () => {
  assert.deepEqual(read(withArguments({ scopes: ['a'] })).rules[0]?.filters[0]?.arguments, {
    scope: ['a'],
  });
  assert.deepEqual(problems(withArguments({ scopes: ['a'] })), [
    'warning rules[0].filters[0].arguments.scopes: `scopes` is deprecated. Write `scope`',
  ]);
});

const REFUSED: readonly [spec: object, problem: RegExp][] = [
  [{}, /^error rules: `rules` is required: a list of rules$/],
  [{ rules: null }, /^error rules: `rules` is required: a list of rules$/],
  [{ rules: {} }, /^error rules: `rules` must be a list of rules, not a map$/],
  [{ rules: [5] }, /^error rules\[0\]: an item of `rules` must be a map, not 5$/],
  [
    { rules: [], precedence: 1.5 },
    /^error precedence: `precedence` must be an integer of 32 bits, not 1.5$/,
  ],
  [
    { rules: [], precedence: 2 ** 31 },
    /^error precedence: `precedence` must be an integer of 32 bits, not 2147483648$/,
  ],
  [
    { rules: [], precedence: '1' },
    /^error precedence: `precedence` must be an integer of 32 bits, not "1"$/,
  ],
  [
    { rules: [{ hots: 'a' }] },
    /^error rules\[0\]\.hots: unknown field `hots`, did you mean `host`\?$/,
  ],
  [
    { rules: [{ filter: [] }] },
    /^error rules\[0\]\.filter: unknown field `filter`, did you mean `filters`\?$/,
  ],
  [
    { rules: [{ filters: [{}] }] },
    /^error rules\[0\]\.filters\[0\]\.name: `name` is required: a string$/,
  ],
  [
    { rules: [{ filters: ['f'] }] },
    /^error rules\[0\]\.filters\[0\]: an item of `filters` must be a map, not "f"$/,
  ],
  [oneFilter({ name: '' }), /^error rules\[0\]\.filters\[0\]\.name: `name` must not be empty$/],
  [
    oneFilter({ onDeny: 'stop' }),
    /\.onDeny: `onDeny` must be one of `break`, `continue`, not "stop"$/,
  ],
  [
    oneFilter({ onAllow: true }),
    /\.onAllow: `onAllow` must be one of `break`, `continue`, not true$/,
  ],
  [oneFilter({ ifRequestHeader: {} }), /\.ifRequestHeader\.name: `name` is required/],
  [
    oneFilter({ ifRequestHeader: { name: 'a', value: 'b', valueRegex: 'c' } }),
    /\.ifRequestHeader\.valueRegex: `value` and `valueRegex` exclude each other\. Keep one$/,
  ],
  [
    oneFilter({ ifRequestHeader: { name: 'a', valueRegex: '\\C' } }),
    /\.valueRegex: Cannot parse regular expression/,
  ],
  [withArguments({ scope: 'openid' }), /\.scope: `scope` must be a list of strings, not "openid"$/],
  [
    withArguments({ scope: ['openid profile'] }),
    /\.scope\[0\]: "openid profile" is not a scope value: .*\. Write each value as an item of its own$/,
  ],
  [withArguments({ scope: [''] }), /\.scope\[0\]: "" is not a scope value/],
  [withArguments({ scope: ['a"b'] }), /\.scope\[0\]: "a\\"b" is not a scope value/],
  [withArguments({ scope: ['\u00e4'] }), /\.scope\[0\]: "\u00e4" is not a scope value/],
  [withArguments({ scope: [1] }), /\.scope\[0\]: an item of `scope` must be a string, not 1$/],
  [
    withArguments({ scope: ['a'], scopes: ['b'] }),
    /\.scopes: `scopes` and `scope` are the same field\. Keep one$/,
  ],
  [
    withArguments({ sameSite: 'any' }),
    /\.sameSite: `sameSite` must be one of `lax`, `strict`, `none`, not "any"$/,
  ],
  [
    withArguments({ insteadOfRedirect: { httpStatusCode: 399 } }),
    /\.httpStatusCode: `httpStatusCode` must be an integer from 400 to 599, not 399$/,
  ],
  [
    withArguments({ insteadOfRedirect: { httpStatusCode: 600 } }),
    /\.httpStatusCode: `httpStatusCode` must be an integer from 400 to 599, not 600$/,
  ],
  [
    withArguments({ insteadOfRedirect: { httpStatusCode: 403, filters: [{ name: 'j' }] } }),
    /\.filters: `httpStatusCode` and `filters` exclude each other\. Keep one$/,
  ],
  [
    withArguments({ insteadOfRedirect: { filters: [] } }),
    /\.insteadOfRedirect\.filters: `filters` must not be empty$/,
  ],
  [
    withArguments({
      insteadOfRedirect: { filters: [{ name: 'o', arguments: { insteadOfRedirect: {} } }] },
    }),
    /\.insteadOfRedirect: unknown field `insteadOfRedirect`$/,
  ],
  [
    withArguments({ insteadOfRedirct: {} }),
    /unknown field `insteadOfRedirct`, did you mean `insteadOfRedirect`\?$/,
  ],
];

for (const [spec, problem] of REFUSED) {
  test(`${JSON.stringify(spec)} is rejected`, () => {
    const errors = problems(spec).filter(line => line.startsWith('error'));
    assert.match(errors[0] ?? '', problem);
    assert.equal(errors.length, 1);
  });
}

test('10,000 rules are read in a moment, right or wrong', () => {
  const rules = Array.from({ length: 10_000 }, (_, index) => ({
    path: `/${index}`,
    filters: [{ name: 'f' }],
  }));
  const started = process.cpuUsage();
  assert.equal(read({ rules }).rules.length, 10_000);
  const wrong = parseText(
    documentOf('FilterPolicy', { rules: rules.map(rule => ({ ...rule, onDeny: 1 })) }),
  );
  assert.equal(wrong.rejected[0]?.rules?.length, 10_000);
  assert.ok(process.cpuUsage(started).user < 20_000_000);
});
