import assert from 'node:assert/strict';
import { test } from 'node:test';
import protobuf from 'protobufjs';
import { encode, encodeAny } from './encode.ts';
import { EncodeError } from './encode-error.ts';
import { messageEncoder } from './encode-message.ts';
import type { Json, JsonObject } from './json.ts';
import { everyType } from './root.ts';
import { WireWriter } from './wire-writer.ts';

const CLUSTER = 'envoy.config.cluster.v3.Cluster';
const HCM =
  'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const ROUTER = 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router';

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

const refused: readonly [what: string, json: JsonObject, path: string, message: RegExp][] = [
  [
    'an unknown field',
    { nam: 'x' },
    '.nam',
    /no such field in envoy\.config\.cluster\.v3\.Cluster/,
  ],
  ['a field in camelCase', { connectTimeout: '5s' }, '.connectTimeout', /no such field/],
  ['a name that every object has', { constructor: 'x' }, '.constructor', /no such field/],
  ['__proto__', JSON.parse('{"__proto__": "x"}'), '.__proto__', /no such field/],
  [
    'a misspelt enum word',
    { type: 'STRICT_DSN' },
    '.type',
    /"STRICT_DSN" is not one of STATIC, STRICT_DNS/,
  ],
  ['an enum as number', { type: 1 }, '.type', /1 is not one of/],
  ['an enum as number in quotes', { type: '0' }, '.type', /"0" is not one of/],
  ['an enum by a name that every object has', { type: 'toString' }, '.type', /is not one of/],
  [
    'two members of a oneof',
    { type: 'EDS', cluster_type: { name: 'x' } },
    '',
    /type and cluster_type exclude each other/,
  ],
  [
    'a string for a message',
    { eds_cluster_config: 'x' },
    '.eds_cluster_config',
    /want an object for/,
  ],
  [
    'an array for a message',
    { eds_cluster_config: [] },
    '.eds_cluster_config',
    /want an object for/,
  ],
  ['an object for an array', { health_checks: {} }, '.health_checks', /want an array/],
  ['null in an array', { health_checks: [null] }, '.health_checks[0]', /want an object/],
  [
    'an array for a map',
    { typed_extension_protocol_options: [] },
    '.typed_extension_protocol_options',
    /want an object \(map\)/,
  ],
  [
    'a null in a map',
    { typed_extension_protocol_options: { a: null } },
    '.typed_extension_protocol_options.a',
    /want an object/,
  ],
  [
    'a hole in an array',
    { health_checks: [undefined] as unknown as JsonObject[] },
    '.health_checks[0]',
    /want an object/,
  ],
  ['a number for a string', { name: 5 }, '.name', /want a string, got number/],
  ['half a surrogate pair', { name: '\ud83d' }, '.name', /surrogate/],
  [
    'a string for a bool',
    { ignore_health_on_host_removal: 'true' },
    '.ignore_health_on_host_removal',
    /want true or false/,
  ],
  [
    'a negative unsigned number',
    { per_connection_buffer_limit_bytes: -1 },
    '.per_connection_buffer_limit_bytes',
    /out of range/,
  ],
  [
    '2^32 for 32 bits',
    { per_connection_buffer_limit_bytes: 4294967296 },
    '.per_connection_buffer_limit_bytes',
    /out of range/,
  ],
  [
    'a fraction for an integer',
    { per_connection_buffer_limit_bytes: 1.5 },
    '.per_connection_buffer_limit_bytes',
    /want an integer, got 1\.5/,
  ],
  [
    'an exponent in quotes',
    { per_connection_buffer_limit_bytes: '1e3' },
    '.per_connection_buffer_limit_bytes',
    /want an integer/,
  ],
  [
    'a duration as number',
    { connect_timeout: 5 },
    '.connect_timeout',
    /want a duration such as "1\.5s", got 5/,
  ],
  ['a duration in ms', { connect_timeout: '5ms' }, '.connect_timeout', /want a duration/],
  [
    'a duration as fields',
    { connect_timeout: { seconds: 5 } },
    '.connect_timeout',
    /want a duration/,
  ],
  [
    'a duration of more than 10,000 years',
    { connect_timeout: '315576000001s' },
    '.connect_timeout',
    /want a duration/,
  ],
  [
    'ten digits of a second',
    { connect_timeout: '0.1234567890s' },
    '.connect_timeout',
    /want a duration/,
  ],
  [
    'a wrapper as fields',
    { per_connection_buffer_limit_bytes: { value: 5 } },
    '.per_connection_buffer_limit_bytes',
    /want an integer/,
  ],
  [
    'a Struct that is none',
    { metadata: { filter_metadata: { a: 5 } } },
    '.metadata.filter_metadata.a',
    /want an object for google\.protobuf\.Struct/,
  ],
  [
    'infinity in a Struct',
    { metadata: { filter_metadata: { a: { b: Infinity } } } },
    '.metadata.filter_metadata.a.b',
    /want a number/,
  ],
];

for (const [what, json, path, message] of refused) {
  test(`${what} is refused, with its path`, () => {
    assert.throws(
      () => encode(CLUSTER, json),
      (error: unknown) =>
        error instanceof EncodeError && error.path === path && message.test(error.message),
    );
  });
}

const refusedAnys: readonly [what: string, json: JsonObject, path: string, message: RegExp][] = [
  ['no @type', { name: 'x' }, '.@type', /missing/],
  [
    'an unknown @type',
    { '@type': 'type.googleapis.com/envoy.NoSuch' },
    '.@type',
    /no message type type\.googleapis\.com\/envoy\.NoSuch/,
  ],
  [
    'the end of a name as @type',
    { '@type': 'type.googleapis.com/Cluster' },
    '.@type',
    /no message type/,
  ],
  [
    'an enum as @type',
    { '@type': `type.googleapis.com/${CLUSTER}.DiscoveryType` },
    '.@type',
    /no message type/,
  ],
  ['a @type without prefix', { '@type': CLUSTER }, '.@type', /no message type/],
  [
    'an unknown field three Anys deep',
    {
      '@type': HCM,
      http_filters: [
        { name: 'a', typed_config: { '@type': ROUTER } },
        {
          name: 'b',
          typed_config: {
            '@type': ROUTER,
            upstream_log: [{ name: 'c', typed_config: { '@type': ROUTER, x: 1 } }],
          },
        },
      ],
    },
    '.http_filters[1].typed_config.upstream_log[0].typed_config.x',
    /no such field in envoy\.extensions\.filters\.http\.router/,
  ],
  [
    'a nested Any without @type',
    { '@type': HCM, http_filters: [{ typed_config: {} }] },
    '.http_filters[0].typed_config.@type',
    /missing/,
  ],
  [
    'null as a nested @type',
    { '@type': HCM, http_filters: [{ typed_config: { '@type': null } }] },
    '.http_filters[0].typed_config.@type',
    /missing/,
  ],
  [
    'a duration beside its @type',
    { '@type': 'type.googleapis.com/google.protobuf.Duration', seconds: 5 },
    '',
    /want \{"@type", "value"\}/,
  ],
  [
    'a field beside the value of a Struct',
    { '@type': 'type.googleapis.com/google.protobuf.Struct', value: {}, other: 1 },
    '',
    /want \{"@type", "value"\}/,
  ],
];

for (const [what, json, path, message] of refusedAnys) {
  test(`an Any with ${what} is refused, with its path`, () => {
    assert.throws(
      () => encodeAny(json),
      (error: unknown) =>
        error instanceof EncodeError && error.path === path && message.test(error.message),
    );
  });
}

test('the path of an error begins with the path that was given', () => {
  assert.throws(() => encodeAny({ '@type': ROUTER, x: 1 }, 'listeners[3]'), {
    path: 'listeners[3].x',
  });
});

test('an error shows only the beginning of a long value', () => {
  assert.throws(
    () => encode(CLUSTER, { type: Array.from({ length: 1000 }, () => 'EDS') }),
    (error: Error) => error.message.length < 200,
  );
});

test('JSON nested deeper than parsers read is refused', () => {
  let deep: Json = {};
  for (let i = 0; i < 10_000; i++) deep = { a: deep };
  assert.throws(() => encode('google.protobuf.Struct', deep as JsonObject), /nested too deeply/);
});

const encoded: readonly [what: string, type: string, json: JsonObject, hex: string][] = [
  [
    'a wrapper around 0 is present and empty',
    CLUSTER,
    { per_connection_buffer_limit_bytes: 0 },
    '2a00',
  ],
  ['a string "0" is not a default', CLUSTER, { name: '0' }, '0a0130'],
  ['null is an absent field', CLUSTER, { name: null, type: 'EDS', cluster_type: null }, '1003'],
  ['undefined is an absent field', CLUSTER, { name: undefined }, ''],
  ['an empty array sends nothing', CLUSTER, { health_checks: [] }, ''],
  ['a default enum is not sent', CLUSTER, { lb_policy: 'ROUND_ROBIN' }, ''],
  ['a default enum in a oneof is sent', CLUSTER, { type: 'STATIC' }, '1000'],
  ['an empty message is sent', CLUSTER, { eds_cluster_config: {} }, '1a00'],
  [
    'a duration has seconds and nanos',
    CLUSTER,
    { connect_timeout: '1.5s' },
    '2208080110' + '80cab5ee01',
  ],
  [
    'both parts of a negative duration are negative',
    'google.protobuf.Any',
    { '@type': 'type.googleapis.com/google.protobuf.Duration', value: '-1.000000001s' },
    `0a2c${Buffer.from('type.googleapis.com/google.protobuf.Duration').toString('hex')}121608ffffffffffffffffff0110ffffffffffffffffff01`,
  ],
  [
    'infinity is a word',
    'envoy.type.v3.DoubleRange',
    { start: '-Infinity', end: 'Infinity' },
    '09000000000000f0ff11000000000000f07f',
  ],
  [
    'base64 may be URL-safe and unpadded',
    'envoy.config.core.v3.DataSource',
    { inline_bytes: '-_8' },
    '1202fbff',
  ],
  [
    'an int64 is exact beyond 2^53',
    'envoy.type.v3.Int64Range',
    { start: '-9007199254740993', end: '9007199254740993' },
    '08ffffffffffffffefff01' + '1081808080808080' + '10',
  ],
];

for (const [what, type, json, expected] of encoded) {
  test(what, () => assert.equal(hex(encode(type, json)), expected));
}

test('a default value is sent where the field is optional', () => {
  const { root: own } = protobuf.parse(
    'syntax = "proto3"; message M { optional uint32 a = 1; uint32 b = 2; }',
    { keepCase: true },
  );
  const writer = new WireWriter();
  messageEncoder(own.resolveAll().lookupType('M'))(writer, { a: 0, b: 0 }, '');
  assert.equal(hex(writer.copy()), '0800');
});

test('the same route object gives the same bytes again, in another place too', () => {
  const route = { match: { prefix: '/' }, route: { cluster: 'x'.repeat(200) } };
  const alone = encode('envoy.config.route.v3.VirtualHost', { name: 'a', routes: [route] });
  assert.deepEqual(
    encode('envoy.config.route.v3.VirtualHost', { name: 'a', routes: [route] }),
    alone,
  );
  const fresh = encode('envoy.config.route.v3.VirtualHost', {
    name: 'a',
    routes: [structuredClone(route)],
  });
  assert.deepEqual(fresh, alone);
});

test('a field that is newer than the .proto files is sent', () => {
  const descriptor = { entries: [], hits_addend: '5' };
  assert.equal(
    hex(encode('envoy.extensions.common.ratelimit.v3.RateLimitDescriptor', descriptor)),
    '1a020805',
  );
});

test('every message of the loaded Envoy API has an encoder', () => {
  const envoy = everyType().filter(({ fullName }) => fullName.startsWith('.envoy.'));
  for (const type of envoy) messageEncoder(type)(new WireWriter(), {}, '');
});
