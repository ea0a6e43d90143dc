import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';

const BASE = { service: 'logs:9001', driver: 'opentelemetry' };

test('a LogService needs a service and a driver, the rest has defaults', () => {
  assert.deepEqual(parseText(documentOf('LogService', BASE)).resources[0]?.spec, {
    service: { scheme: 'http', host: 'logs', port: 9001, portGiven: true },
    driver: 'opentelemetry',
    driver_config: { additional_log_headers: [] },
    flush_interval_time: 1,
    flush_interval_byte_size: 16_384,
    grpc: true,
    gateway_id: ['default'],
  });
  assert.deepEqual(problemsOf('LogService', {}), [
    'error spec.service: `service` is required: [http://|https://]name[.namespace][:port]',
    'error spec.driver: `driver` is required: one of `http`, `tcp`, `opentelemetry`',
  ]);
});

test('a header that holds credentials is left out alone', () => {
  const additional_log_headers = [{ header_name: 'X-A' }, { header_name: 'Set-Cookie' }];
  const spec = { ...BASE, driver_config: { additional_log_headers } };
  const [resource] = parseText(documentOf('LogService', spec)).resources;
  assert.deepEqual(
    resource?.kind === 'LogService' && resource.spec.driver_config.additional_log_headers,
    [{ header_name: 'x-a', during_request: true, during_response: true, during_trailer: true }],
  );
  assert.deepEqual(problemsOf('LogService', spec), [
    'error spec.driver_config.additional_log_headers[1].header_name: `set-cookie` holds credentials, and they are in no trace and no log',
  ]);
});

const TOLD: readonly [fields: object, problem: string][] = [
  [
    { driver: 'udp' },
    'error spec.driver: `driver` must be one of `http`, `tcp`, `opentelemetry`, not "udp"',
  ],
  [
    { grpc: false },
    'error spec.grpc: log services are asked by gRPC and nothing else. Write `grpc: true`',
  ],
  [
    { flush_interval_time: 0 },
    'error spec.flush_interval_time: `flush_interval_time` must be an integer of seconds from 1 to 2147483, not 0',
  ],
  [
    { flush_interval_byte_size: -1 },
    'error spec.flush_interval_byte_size: `flush_interval_byte_size` must be an integer of bytes from 0 to 16777216, not -1',
  ],
  [
    { driver: 'http' },
    'warning spec.driver: this service gets the path of each request with its query, which may hold tokens. The driver `opentelemetry` sends no queries',
  ],
  [
    { driver: 'tcp', driver_config: { additional_log_headers: [{ header_name: 'x-a' }] } },
    'warning spec.driver_config.additional_log_headers: entries of the driver `tcp` have no headers',
  ],
];

for (const [fields, problem] of TOLD) {
  test(`a LogService with ${JSON.stringify(fields)} is a Problem`, () =>
    assert.deepEqual(problemsOf('LogService', { ...BASE, ...fields }), [problem]));
}

for (const fields of [
  { driver_config: {} },
  { driver: 'tcp', driver_config: null },
  { grpc: true, protocol_version: 'v3' },
])
  test(`a LogService with ${JSON.stringify(fields)} is good`, () =>
    assert.deepEqual(problemsOf('LogService', { ...BASE, ...fields }), []));
