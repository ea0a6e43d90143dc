import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';

const http = { http: { path: '/healthz' } };
const checked = (health_check: unknown, more: object = {}) => ({
  health_checks: [{ health_check, ...more }],
});

const GOOD: readonly object[] = [
  { health_checks: [] },
  checked(http),
  checked({ http: { path: '/a?b=c', hostname: '[::1]:80' } }),
  checked({ http: { path: '/', expected_statuses: [{ min: 100, max: 599 }] } }),
  checked({ http: { path: '/', add_request_headers: { authorization: 'Bearer %%' } } }),
  checked({ tcp: {} }),
  { grpc: true, ...checked({ grpc: { upstream_name: '' } }) },
  checked(http, { interval: '100ms', timeout: '10s', unhealthy_threshold: 100 }),
  { outlier_detection: {} },
  { outlier_detection: '{}' },
  { outlier_detection: { max_ejection_percent: 0, interval: '100ms' } },
  { outlier_detection: { consecutive_5xx: null } },
];

for (const fields of GOOD) {
  test(`${JSON.stringify(fields)} is read`, () => {
    assert.deepEqual(problemsOf('Mapping', { prefix: '/', service: 'shop', ...fields }), []);
  });
}

test("what Ambassador's cluster writes as `v3health_checks` is `health_checks`", () => {
  const { health_checks: v3health_checks } = checked(http);
  const fields = { prefix: '/', service: 'shop', v3health_checks };
  const [resource] = parseText(documentOf('Mapping', fields)).resources;
  assert.equal(resource?.kind === 'Mapping' && resource.spec.health_checks?.length, 1);
  assert.deepEqual(problemsOf('Mapping', fields), [
    'warning spec.v3health_checks: `v3health_checks` is deprecated. Write `health_checks`',
  ]);
});

const WRONG: readonly [fields: object, problem: RegExp][] = [
  [checked({}), /health_check.*write one of `http`, `grpc`, `tcp`/],
  [checked(undefined), /health_check/],
  [checked({ ...http, tcp: {} }), /`http` and `tcp` exclude each other/],
  [checked({ http: {} }), /path/],
  [checked({ http: { path: '' } }), /must begin with "\/"/],
  [checked({ http: { path: '/a b' } }), /percent-encoded/],
  [checked({ http: { path: `/${'a'.repeat(9000)}` } }), /characters/],
  [checked({ http: { path: '/', hostname: 'a b' } }), /hostname/],
  [checked({ http: { path: '/', hostname: 'a\r\nb: c' } }), /hostname/],
  [checked({ http: { path: '/', hostname: '' } }), /hostname/],
  [checked({ http: { path: '/', expected_statuses: [] } }), /from 1 to 100 ranges/],
  [checked({ http: { path: '/', expected_statuses: [{ min: 99, max: 200 }] } }), /min/],
  [checked({ http: { path: '/', expected_statuses: [{ min: 200, max: 600 }] } }), /max/],
  [checked({ http: { path: '/', expected_statuses: [{ min: 300, max: 200 }] } }), /larger/],
  [checked({ http: { path: '/', add_request_headers: { host: 'a' } } }), /host/],
  [
    checked({ http: { path: '/', add_request_headers: { 'content-length': '1' } } }),
    /content-length/,
  ],
  [checked({ http: { path: '/', add_request_headers: { a: 'b\nc' } } }), /control characters/],
  [checked({ http: { path: '/', add_request_headers: { a: '50%' } } }), /percent sign/],
  [checked({ http: { path: '/', remove_request_headers: [':path'] } }), /:path/],
  [checked(http, { interval: '99ms' }), /from 100ms to 3600s/],
  [checked(http, { interval: '0s' }), /longer than 0/],
  [checked(http, { interval: '-1s' }), /longer than 0/],
  [checked(http, { interval: '2h' }), /from 100ms to 3600s/],
  [checked(http, { interval: 5 }), /interval/],
  [checked(http, { timeout: '10001ms' }), /from 100ms to 10s/],
  [checked(http, { unhealthy_threshold: 0 }), /from 1 to 100/],
  [checked(http, { healthy_threshold: 101 }), /from 1 to 100/],
  [checked(http, { intervall: '1s' }), /unknown field `intervall`, did you mean `interval`/],
  [checked({ grpc: { upstream_name: 'a' } }), /gRPC needs HTTP\/2: write `grpc: true`/],
  [{ grpc: true, ...checked({ grpc: { upstream_name: 'a b' } }) }, /upstream_name/],
  [{ health_checks: [{ health_check: http }, { health_check: http }] }, /Envoy makes one check/],
  [{ health_checks: {} }, /health_checks/],
  [{ outlier_detection: 'x' }, /not the JSON text of an object/],
  [{ outlier_detection: '[]' }, /not the JSON text of an object/],
  [{ outlier_detection: '' }, /not the JSON text of an object/],
  [{ outlier_detection: [] }, /outlier_detection/],
  [
    { outlier_detection: { consecutive_5x: 1 } },
    /`consecutive_5x`, did you mean `consecutive_5xx`/,
  ],
  [{ outlier_detection: { constructor: 1 } }, /unknown field `constructor`/],
  [{ outlier_detection: { consecutive_5xx: -1 } }, /from 0 to 4294967295/],
  [{ outlier_detection: { max_ejection_percent: 101 } }, /percent from 0 to 100/],
  [{ outlier_detection: { interval: '1ms' } }, /100ms or more/],
  [{ outlier_detection: { split_external_local_origin_errors: 'no' } }, /`true` or `false`/],
  [{ outlier_detection: '{"base_ejection_time": "2m", "max_ejection_time": "1m"}' }, /shorter/],
];

for (const [fields, problem] of WRONG) {
  test(`${JSON.stringify(fields).slice(0, 120)} is a Problem`, () => {
    const problems = problemsOf('Mapping', { prefix: '/', service: 'shop', ...fields });
    assert.equal(problems.length, 1, problems.join('\n'));
    assert.match(problems.join(), problem);
  });
}
