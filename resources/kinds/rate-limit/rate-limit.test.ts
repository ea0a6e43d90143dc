import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';

const LIMIT = { pattern: [{ generic_key: 'a' }], rate: 5, unit: 'minute' };

const withLimit = (fields: object) => ({ domain: 'gateway', limits: [{ ...LIMIT, ...fields }] });

function specOf(spec: unknown) {
  const [resource] = parseText(documentOf('RateLimit', spec)).resources;
  return resource?.kind === 'RateLimit' ? resource.spec : undefined;
}

function limitOf(fields: object) {
  return specOf(withLimit(fields))?.limits[0];
}

test('a RateLimit needs a domain and limits, a limit a pattern, a rate and a unit; the rest has defaults', () => {
  assert.deepEqual(specOf(withLimit({})), {
    domain: 'gateway',
    limits: [
      {
        action: 'Enforce',
        pattern: [[{ key: 'generic_key', value: 'a' }]],
        rate: 5,
        unit: 'minute',
        injectRequestHeaders: [],
        injectResponseHeaders: [],
        labels: [],
      },
    ],
    gateway_id: ['default'],
  });
  assert.deepEqual(problemsOf('RateLimit', {}), [
    'error spec.limits: `limits` is required: a list',
    'error spec.domain: `domain` is required: a string',
  ]);
  assert.deepEqual(
    problemsOf('RateLimit', { domain: 'd', limits: [{ rate: 5, unit: 'minute' }] }),
    ['error spec.limits[0].pattern: `pattern` is required: a list of maps from label key to value'],
  );
  assert.deepEqual(problemsOf('RateLimit', { domain: 'd', limits: [{}] }), [
    'error spec.limits[0].rate: `rate` is required: an integer from 0 to 4294967295',
    'error spec.limits[0].unit: `unit` is required: one of `second`, `minute`, `hour`, `day`',
  ]);
});

test('limits of targets have labels that begin with what is theirs alone', () => {
  const targetRefs = [{ kind: 'HTTPRoute', name: 'web' }];
  const user = { user: { header: 'x-user', omit_if_not_present: true } };
  const rate = { rate: 5, unit: 'minute' };
  const limits = [
    rate,
    { ...rate, labels: ['remote_address', user] },
    { ...rate, labels: [user], pattern: [{ user: 'ada' }] },
  ];
  const spec = specOf({ targetRefs, limits });
  assert.equal(spec?.domain, 'gateway');
  const read = spec?.limits ?? [];
  const firsts = read.map(({ pattern }) => pattern[0]?.[0]);
  for (const first of firsts) {
    assert.equal(first?.key, 'generic_key');
    assert.match(first?.value ?? '', /^RateLimit\/default\/x\/\d+$/);
  }
  assert.equal(new Set(firsts.map(first => first?.value)).size, limits.length);
  const own = (at: number) => firsts[at];
  assert.deepEqual(
    read.map(({ pattern }) => pattern),
    [
      [[own(0)]],
      [[own(1)], [{ key: 'remote_address' }], [{ key: 'user' }]],
      [[own(2)], [{ key: 'user', value: 'ada' }]],
    ],
  );
  assert.deepEqual(
    read.map(({ labels }) => labels.map(({ type }) => type)),
    [
      ['generic_key'],
      ['generic_key', 'remote_address', 'request_header'],
      ['generic_key', 'request_header'],
    ],
  );
});

test('what a limit of targets counts is independent of its place, name, rate and unit', () => {
  const targetRefs = [{ kind: 'HTTPRoute', name: 'web' }];
  const pattern = [{ remote_address: '*' }];
  const limit = { labels: ['remote_address'], rate: 5, unit: 'hour' };
  const same = { ...limit, pattern, name: 'other', rate: 9, unit: 'second', action: 'LogOnly' };
  const first = specOf({ targetRefs, limits: [limit] })?.limits[0];
  const after = specOf({ targetRefs, limits: [{ rate: 1, unit: 'day' }, same] })?.limits[1];
  assert.deepEqual(after?.labels, first?.labels);
  assert.deepEqual(after?.pattern, first?.pattern);
});

const ODD_TARGETS: readonly (readonly [fields: object, problem: string])[] = [
  [{ targetRefs: [] }, '`targetRefs` must not be empty'],
  [
    { targetRefs: [{ kind: 'Gateway', name: 'a', namespace: 'b' }] },
    'a limit must not be for another target',
  ],
  [{ targetRef: { kind: 'Gateway', name: 'a' } }, 'a limit must not be for another target'],
  [
    {
      targetRefs: Array.from({ length: 10_000 }, (_, at) => ({ kind: 'Gateway', name: `g${at}` })),
    },
    'spec.targetRefs: `targetRefs` ',
  ],
];

for (const [fields, problem] of ODD_TARGETS) {
  test(`a RateLimit with ${JSON.stringify(fields).slice(0, 80)} is rejected`, () => {
    const [first = ''] = problemsOf('RateLimit', { ...withLimit({}), ...fields });
    assert.ok(first.includes(problem), first);
  });
}

test('labels of a limit need targets', () => {
  assert.deepEqual(problemsOf('RateLimit', withLimit({ labels: ['remote_address'] })), [
    'error spec.limits[0].labels: `labels` needs `targetRefs`',
  ]);
});

test('the label of a limit for targets is for no other pattern', () => {
  const pattern = [{ generic_key: 'RateLimit/infra/gw/0' }, { remote_address: '192.0.2.7' }];
  assert.deepEqual(problemsOf('RateLimit', withLimit({ pattern })), [
    'error spec.limits[0].pattern[0]: `generic_key` with "RateLimit/<namespace>/<name>/<number>" is the label of a RateLimit with `targetRefs`, which alone may match it',
  ]);
  const like = [{ generic_key: 'RateLimit/infra/gw' }];
  assert.deepEqual(problemsOf('RateLimit', withLimit({ pattern: like })), []);
});

const RATE = '`rate` must be an integer from 0 to 4294967295';
const REFUSED: readonly [fields: object, problem: string][] = [
  [{ name: '' }, 'name: `name` must not be empty'],
  [{ action: 'Log' }, 'action: `action` must be one of `Enforce`, `LogOnly`, not "Log"'],
  [
    { action: 'log-only' },
    'action: `action` must be one of `Enforce`, `LogOnly`, not "log-only", did you mean `LogOnly`?',
  ],
  [
    { unit: 'seconds' },
    'unit: `unit` must be one of `second`, `minute`, `hour`, `day`, not "seconds", did you mean `second`?',
  ],
  [{ unit: 'week' }, 'unit: `unit` must be one of `second`, `minute`, `hour`, `day`, not "week"'],
  [{ rate: -1 }, `rate: ${RATE}, not -1`],
  [{ rate: 4_294_967_296 }, `rate: ${RATE}, not 4294967296`],
  [{ rate: 1e300 }, `rate: ${RATE}, not 1e+300`],
  [{ rate: 1.5 }, `rate: ${RATE}, not 1.5`],
  [{ rate: '5' }, `rate: ${RATE}, not "5"`],
  [{ rate: true }, `rate: ${RATE}, not true`],
  [
    { pattern: { key1: 'A' } },
    'pattern: `pattern` must be a list of maps from label key to value, not a map',
  ],
  [
    { injectRequestHeaders: { 'x-a': 'b' } },
    'injectRequestHeaders: `injectRequestHeaders` must be a list, not a map',
  ],
  [
    { injectRequestHeaders: [{ name: 'x-a' }] },
    'injectRequestHeaders[0].value: `value` is required: a string',
  ],
  [
    { injectRequestHeaders: [{ value: 'b' }] },
    'injectRequestHeaders[0].name: `name` is required: a string',
  ],
  [
    { injectResponseHeaders: [{ name: 'x-a' }] },
    'injectResponseHeaders[0].value: `value` is required: a string',
  ],
  [
    { injectResponseHeaders: [{ value: 'b' }] },
    'injectResponseHeaders[0].name: `name` is required: a string',
  ],
  [
    { errorResponse: { headers: [{ name: 'x-a' }] } },
    'errorResponse.headers[0].value: `value` is required: a string',
  ],
  [
    { errorResponse: { headers: [{ value: 'b' }] } },
    'errorResponse.headers[0].name: `name` is required: a string',
  ],
  [
    { errorResponse: { headers: [{ name: 'x-a', value: 5 }] } },
    'errorResponse.headers[0].value: `value` must be a string, not 5',
  ],
  [
    { errorResponse: { bodyTemplate: 5 } },
    'errorResponse.bodyTemplate: `bodyTemplate` must be a string, not 5',
  ],
  [{ errorResponse: 'no' }, 'errorResponse: `errorResponse` must be a map, not "no"'],
];

for (const [fields, problem] of REFUSED) {
  test(`a limit with ${JSON.stringify(fields)} is rejected`, () => {
    assert.deepEqual(problemsOf('RateLimit', withLimit(fields)), [
      `error spec.limits[0].${problem}`,
    ]);
    assert.equal(specOf(withLimit(fields)), undefined);
  });
}

const READ_AS: readonly [fields: object, limit: object][] = [
  [{ name: 'per user' }, { name: 'per user' }],
  [{ name: null }, {}],
  [{ action: 'ENFORCE' }, { action: 'Enforce' }],
  [{ action: 'logonly' }, { action: 'LogOnly' }],
  [{ action: null }, { action: 'Enforce' }],
  [{ unit: 'Second' }, { unit: 'second' }],
  [{ unit: 'MINUTE' }, { unit: 'minute' }],
  [{ unit: 'hOUR' }, { unit: 'hour' }],
  [{ unit: 'day' }, { unit: 'day' }],
  [{ rate: 0 }, { rate: 0 }],
  [{ rate: 4_294_967_295 }, { rate: 4_294_967_295 }],
  [{ pattern: [] }, { pattern: [] }],
  [{ errorResponse: null }, {}],
  [{ errorResponse: {} }, { errorResponse: { headers: [], bodyTemplate: '' } }],
  [
    { errorResponse: { headers: null, bodyTemplate: null } },
    { errorResponse: { headers: [], bodyTemplate: '' } },
  ],
  [
    { errorResponse: { bodyTemplate: 'a\n' } },
    { errorResponse: { headers: [], bodyTemplate: 'a\n' } },
  ],
  [{ injectRequestHeaders: null }, { injectRequestHeaders: [] }],
  [
    { injectRequestHeaders: [{ name: 'X-Limit', value: '{{ .RetryAfter }}' }] },
    { injectRequestHeaders: [{ name: 'x-limit', value: '{{ .RetryAfter }}' }] },
  ],
  [
    { injectResponseHeaders: [{ name: 'x-limit', value: 'a\r\n\n' }] },
    { injectResponseHeaders: [{ name: 'x-limit', value: 'a' }] },
  ],
  [
    {
      errorResponse: {
        headers: [
          { name: 'Content-Type', value: 'text/html' },
          { name: 'retry-after', value: '' },
        ],
      },
    },
    {
      errorResponse: {
        headers: [
          { name: 'content-type', value: 'text/html' },
          { name: 'retry-after', value: '' },
        ],
        bodyTemplate: '',
      },
    },
  ],
];

for (const [fields, expected] of READ_AS) {
  test(`a limit with ${JSON.stringify(fields)} is read as ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(limitOf(fields), { ...limitOf({}), ...expected });
    assert.deepEqual(problemsOf('RateLimit', withLimit(fields)), []);
  });
}

const WARNED: readonly [spec: object, problem: string][] = [
  [{ domain: 'd', limits: [] }, 'limits: there is no limit: nothing is limited by this'],
  [withLimit({ burst: 5 }), 'limits[0].burst: unknown field `burst`'],
  [withLimit({ Name: 'n' }), 'limits[0].Name: `Name` is read as `name`. Please spell it so'],
  [
    withLimit({
      injectResponseHeaders: [
        { name: 'X-A', value: '1' },
        { name: 'x-b', value: '' },
        { name: 'x-a', value: '2' },
      ],
    }),
    'limits[0].injectResponseHeaders[2].name: the header "x-a" is set twice. The first counts',
  ],
  [
    withLimit({
      errorResponse: {
        headers: [
          { name: 'x-a', value: '1' },
          { name: 'x-a', value: '2' },
        ],
      },
    }),
    'limits[0].errorResponse.headers[1].name: the header "x-a" is set twice. The first counts',
  ],
  [
    withLimit({ pattern: [{ a: 'x' }, [{ a: 'x' }, { a: '*' }, { a: '' }]] }),
    'limits[0].pattern[1]: the label "a" appears twice with the same value',
  ],
];

for (const [spec, problem] of WARNED) {
  test(`a RateLimit with ${JSON.stringify(spec)} is served with a warning`, () => {
    assert.deepEqual(problemsOf('RateLimit', spec), [`warning spec.${problem}`]);
    assert.notEqual(specOf(spec), undefined);
  });
}

test('what other rate limit services know is told with what to write here', () => {
  const theirs = {
    burstFactor: 3,
    shadow_mode: true,
    unlimited: true,
    requests_per_unit: 7,
    x: 1,
  };
  const told = problemsOf('RateLimit', withLimit(theirs)).map(line => line.replace(/^.*?: /, ''));
  assert.deepEqual(told, [
    'unknown field `burstFactor`. A limit has no bursts beside its `rate`, so less may pass at once',
    'unknown field `shadow_mode`. The limit is enforced. Write `action: LogOnly`',
    'unknown field `unlimited`. The limit has its `rate`. Write `rate: 4294967295`',
    'unknown field `requests_per_unit`. Write `rate`',
    'unknown field `x`',
  ]);
});

test('a `*` beside other characters is told, since it stands for itself', () => {
  const pattern = [{ both: '**', host: '*.example.com', path: '/api/*', any: '*', part: 'a*b' }];
  const told = (key: string) =>
    `warning spec.limits[0].pattern[0]: the \`*\` in the value of "${key}" stands for itself: only "*" alone stands for any value`;
  const problems = ['both', 'host', 'path'].map(told);
  assert.deepEqual(problemsOf('RateLimit', withLimit({ pattern })), problems);
  const [{ pattern: read } = {}] = specOf(withLimit({ pattern }))?.limits ?? [];
  assert.deepEqual(read?.[0]?.[1], { key: 'both', value: '**' });
});

test('limits may share a name', () => {
  const spec = {
    domain: 'd',
    limits: [
      { ...LIMIT, name: 'n' },
      { ...LIMIT, name: 'n', unit: 'hour' },
    ],
  };
  assert.deepEqual(problemsOf('RateLimit', spec), []);
});
