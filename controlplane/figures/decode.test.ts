import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '#protos/testing/random.ts';
import { WireError } from '#protos/wire-reader.ts';
import { decodeAccessLog, type LoggedRequest } from './decode-access-log.ts';
import { decodeMetrics } from './decode-metrics.ts';
import {
  counter,
  EDGE_NODE,
  gauge,
  histogram,
  logEntry,
  logMessage,
  metricsMessage,
} from './testing/figure-messages.ts';

function metricsOf(bytes: Buffer): readonly unknown[] {
  const found: unknown[] = [];
  decodeMetrics(bytes, {
    node: node => found.push(node),
    counter: (...given) => found.push(given),
    gauge: (...given) => found.push(given),
    histogram: (name, counts) => found.push([name, [...counts]]),
  });
  return found;
}

function requestsOf(bytes: Buffer, most = 1_000): readonly LoggedRequest[] {
  const found: LoggedRequest[] = [];
  const wants = () => found.length < most;
  decodeAccessLog(bytes, { node: () => {}, wants, request: request => found.push(request) });
  return found;
}

test('statistics are read with their names, and counters of 0 are skipped', () => {
  const families = [
    counter('a', 2),
    counter('b', 0),
    gauge('c', 0),
    histogram('d', 0, [[1, 0]]),
    histogram('e', 7, [
      [1, 2],
      [60_000, 6],
    ]),
  ];
  assert.deepEqual(metricsOf(metricsMessage(families, EDGE_NODE)), [
    { id: 'edge-1', group: 'edge' },
    ['a', 2, 1],
    ['c', 0, 1],
    [
      'e',
      [
        [0, 2],
        [24, 4],
        [25, 1],
      ],
    ],
  ]);
});

for (const value of [Number.NaN, Number.POSITIVE_INFINITY, -1])
  test(`a counter of ${value} is skipped`, () => {
    assert.deepEqual(metricsOf(metricsMessage([counter('a', value)])), []);
  });

test('a name of a megabyte is skipped', () => {
  assert.deepEqual(metricsOf(metricsMessage([counter('a'.repeat(2 ** 20), 1)])), []);
});

test('of a family one statistic is read, since its name is looked up for each', () => {
  const { metric, ...family } = counter('a', 1);
  const many = { ...family, metric: Array.from({ length: 3 }, () => metric).flat() };
  assert.deepEqual(metricsOf(metricsMessage([many, counter('b', 2)])), [
    ['a', 1, 1],
    ['b', 2, 1],
  ]);
});

test('a request is read with what the console shows', () => {
  const flags = { upstream_connection_failure: true, unauthorized_details: { reason: 1 } };
  const [request] = requestsOf(logMessage([logEntry('/a', 503, { response_flags: flags })]));
  assert.ok(request !== undefined);
  const { at, durationMs, client, route, protocol, method, scheme, host, path, status } = request;
  assert.deepEqual(
    [at, durationMs, client, route, protocol, method, scheme, host, path, status],
    [
      ...[1_000_005, 1.5, '192.0.2.1', 'Mapping/default/a'],
      ...['HTTP/2', 'GET', 'https', 'a.test', '/a', 503],
    ],
  );
  assert.deepEqual(request.flags, ['UF', 'UAEX']);
});

for (const [path, kept] of [
  ['/a?b=secret', '/a'],
  ['/?secret', '/'],
  ['?secret', ''],
  ['/a??secret?', '/a'],
  [`/${'é'.repeat(300)}?secret`, undefined],
] as const)
  test(`the query of ${path.slice(0, 20)} is not kept`, () => {
    const [request] = requestsOf(logMessage([logEntry(path, 200)]));
    if (kept !== undefined) assert.equal(request?.path, kept);
    assert.ok(!JSON.stringify(request).includes('secret'));
  });

for (const [where, more] of [
  ['trailers', { response_trailers: { 'grpc-status': '14' } }],
  ['headers', { response_headers: { 'grpc-status': '14' } }],
  [
    'both',
    { response_headers: { 'grpc-status': '0' }, response_trailers: { 'grpc-status': '14' } },
  ],
] as const)
  test(`a status of gRPC in ${where} stands before that of HTTP`, () => {
    const entry = logEntry('/a', 200);
    const [read] = requestsOf(logMessage([{ ...entry, response: { ...entry.response, ...more } }]));
    assert.deepEqual([read?.status, read?.grpcStatus], [503, 'UNAVAILABLE']);
  });

test('another header is no status of gRPC', () => {
  const entry = logEntry('/a', 200);
  const response = { ...entry.response, response_trailers: { 'x-status': '14' } };
  const [read] = requestsOf(logMessage([{ ...entry, response }]));
  assert.deepEqual([read?.status, read?.grpcStatus], [200, undefined]);
});

test('neither referer, headers, password nor metadata are kept', () => {
  const entry = logEntry('/a', 200, {
    metadata: { filter_metadata: { a: { fields: { b: { string_value: 'secret' } } } } },
    custom_tags: { a: 'secret' },
  });
  const request = {
    ...entry.request,
    referer: 'https://a/?secret',
    authority: 'user:secret@a.test',
    original_path: '/b?secret',
    request_headers: { cookie: 'secret' },
  };
  const [read] = requestsOf(logMessage([{ ...entry, request }]));
  assert.deepEqual([read?.host, read?.path], ['a.test', '/b']);
  assert.ok(!JSON.stringify(read).includes('secret'));
});

test('a password is not kept, however long it is', () => {
  const entry = logEntry('/a', 200);
  const authority = `user:${'secret'.repeat(100)}@a.test`;
  const [read] = requestsOf(logMessage([{ ...entry, request: { ...entry.request, authority } }]));
  assert.equal(read?.host, 'a.test');
});

test('requests beyond what is wanted are skipped', () => {
  const entries = Array.from({ length: 9 }, () => logEntry('/a', 200));
  assert.equal(requestsOf(logMessage(entries), 3).length, 3);
});

const VALID = [
  metricsMessage([counter('a', 2), gauge('c', 1), histogram('e', 2, [[1, 1]])], EDGE_NODE),
  logMessage([logEntry('/a?b', 503, { response_flags: { no_route_found: true } })], EDGE_NODE),
];

for (let seed = 1; seed <= 300; seed++)
  test(`damaged messages are read or rejected, and no more (seed ${seed})`, () => {
    const random = seededRandom(seed);
    const valid = VALID[seed % 2] ?? Buffer.alloc(0);
    const bytes = Buffer.from(valid.subarray(0, Math.ceil(random() * valid.length)));
    for (let change = 0; change < 4; change++)
      bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
    for (const read of [metricsOf, requestsOf])
      try {
        read(bytes);
      } catch (error) {
        assert.ok(error instanceof WireError, String(error));
      }
  });
