import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collect } from '#resources/parse/collect.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';

test('a RateLimitService needs a service, the rest has defaults', () => {
  const [resource] = parseText(
    documentOf('RateLimitService', { service: 'limits:8081' }),
  ).resources;
  assert.deepEqual(resource?.spec, {
    service: { scheme: 'http', host: 'limits', port: 8081, portGiven: true },
    timeout_ms: 20,
    failure_mode_deny: false,
    tls: false,
    gateway_id: ['default'],
  });
  assert.deepEqual(problemsOf('RateLimitService', {}), [
    'error spec.service: `service` is required: [http://|https://]name[.namespace][:port]',
  ]);
});

const READ_AS: readonly [fields: object, spec: object][] = [
  [
    { service: 'https://limits.infra' },
    { service: { scheme: 'https', host: 'limits.infra', port: 443, portGiven: false } },
  ],
  [{ domain: 'edge' }, { domain: 'edge' }],
  [{ domain: null }, {}],
  [{ timeout_ms: 500 }, { timeout_ms: 500 }],
  [{ failure_mode_deny: true }, { failure_mode_deny: true }],
  [{ tls: true }, { tls: true }],
  [{ stats_name: 'limits_1' }, { stats_name: 'limits_1' }],
  [{ protocol_version: 'v3' }, { protocol_version: 'v3' }],
];

for (const [fields, expected] of READ_AS) {
  test(`a RateLimitService with ${JSON.stringify(fields)} is read as ${JSON.stringify(expected)}`, () => {
    const read = (spec: object) =>
      parseText(documentOf('RateLimitService', spec)).resources[0]?.spec;
    const base = { service: 'limits:8081' };
    assert.deepEqual(read({ ...base, ...fields }), { ...read(base), ...expected });
    assert.deepEqual(problemsOf('RateLimitService', { ...base, ...fields }), []);
  });
}

test('a gateway has one RateLimitService', () => {
  const files = ['a', 'b'].map(name =>
    parseFile(name, documentOf('RateLimitService', { service: name }, name), DEFAULT_PARSE_OPTIONS),
  );
  const { resources, problems } = collect(files);
  assert.deepEqual([...resources.keys()], ['RateLimitService/default/a']);
  assert.deepEqual(
    problems.map(({ name }) => name),
    ['b'],
  );
});

const REFUSED: readonly [fields: object, problem: string][] = [
  [{ domain: '' }, 'domain: `domain` must not be empty'],
  [
    { timeout_ms: 0 },
    'timeout_ms: `timeout_ms` must be an integer of milliseconds from 1 to 2147483647, not 0',
  ],
  [{ tls: 'context' }, 'tls: `tls` must be `true` or `false`, not "context"'],
  [
    { stats_name: 'a b' },
    'stats_name: "a b" is no name for statistics: 1 to 60 letters, digits, "_" and "-"',
  ],
];

for (const [fields, problem] of REFUSED) {
  test(`a RateLimitService with ${JSON.stringify(fields)} is rejected`, () => {
    assert.deepEqual(problemsOf('RateLimitService', { service: 'a', ...fields }), [
      `error spec.${problem}`,
    ]);
  });
}

test("what a cluster with Ambassador's resources writes otherwise is read with a warning", () => {
  const fields = { service: 'a', protocol_version: 'v2', v3StatsName: 'limits' };
  assert.deepEqual(problemsOf('RateLimitService', fields), [
    'warning spec.protocol_version: the service is asked by `v3` alone',
    'warning spec.v3StatsName: `v3StatsName` is deprecated. Write `stats_name`',
  ]);
});
