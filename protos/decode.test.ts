import assert from 'node:assert/strict';
import { test } from 'node:test';
import type protobuf from 'protobufjs';
import { decode, decodeAny } from './decode.ts';
import { encode, encodeAny } from './encode.ts';
import type { JsonObject } from './json.ts';
import { findType } from './root.ts';
import { cases } from './testing/cases.ts';
import { seededRandom } from './testing/random.ts';
import { randomMessage } from './testing/random-message.ts';
import { RATE_LIMIT } from './type-url.ts';

for (const name of [
  'envoy.config.listener.v3.Listener',
  'envoy.config.route.v3.RouteConfiguration',
  'envoy.config.cluster.v3.Cluster',
  'envoy.config.bootstrap.v3.Bootstrap',
  'envoy.service.auth.v3.CheckRequest',
  'envoy.service.auth.v3.CheckResponse',
  'envoy.service.discovery.v3.DeltaDiscoveryResponse',
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
]) {
  test(`what is encoded as ${name} decodes to the same JSON`, () => {
    for (let seed = 0; seed < cases({ all: 100, quick: 25 }); seed++) {
      const json = randomMessage(findType(name) as protobuf.Type, seededRandom(seed)) as JsonObject;
      assert.deepEqual(decode(name, encode(name, json)), json, `seed ${seed}`);
    }
  });
}

const TYPES = 'type.googleapis.com/';
const SECRET: JsonObject = {
  '@type': `${TYPES}envoy.extensions.transport_sockets.tls.v3.Secret`,
  name: 'server',
  tls_certificate: {
    certificate_chain: { inline_string: 'CERTIFICATE' },
    private_key: { inline_string: 'PRIVATE KEY' },
    password: { inline_bytes: 'cGFzc3dvcmQ=' },
  },
};

test('an Any decodes to what it was made of, with the Anys inside of it', () => {
  const json = {
    '@type': `${TYPES}envoy.service.discovery.v3.DiscoveryResponse`,
    version_info: '1',
    resources: [SECRET, { '@type': `${TYPES}google.protobuf.Duration`, value: '5s' }],
  };
  assert.deepEqual(decodeAny(encodeAny(json)), json);
});

test('an Any of an unknown type keeps its bytes', () => {
  const any = { type_url: `${TYPES}envoy.NoSuch`, value: Uint8Array.of(0xfb, 0xff) };
  assert.deepEqual(decodeAny(any), { '@type': any.type_url, value: '+/8=' });
});

test('defaults are left out, but not where they are present', () => {
  const type = findType('envoy.config.cluster.v3.Cluster') as protobuf.Type;
  const bytes = type
    .encode({ name: '', type: 0, lb_policy: 0, per_connection_buffer_limit_bytes: { value: 0 } })
    .finish();
  assert.deepEqual(decode('envoy.config.cluster.v3.Cluster', bytes), {
    type: 'STATIC',
    per_connection_buffer_limit_bytes: 0,
  });
});

test('the text "0" is no default', () => {
  const label = {
    '@type': RATE_LIMIT,
    limits: [{ name: '0', pattern: [{ alternatives: [{ key: '0', value: '0' }] }] }],
  };
  assert.deepEqual(decodeAny(encodeAny(label)), label);
});

test('an enum number of a newer API stays a number', () => {
  const type = findType('envoy.config.cluster.v3.Cluster') as protobuf.Type;
  assert.deepEqual(
    decode('envoy.config.cluster.v3.Cluster', type.encode({ lb_policy: 99 }).finish()),
    {
      lb_policy: 99,
    },
  );
});

test('bytes that are no such message throw', () => {
  assert.throws(() => decode('envoy.config.cluster.v3.Cluster', Uint8Array.of(0x0a, 0x7f)));
});

test('a map or Struct with __proto__ as key is decoded like any other', () => {
  const json = JSON.parse('{"__proto__": {"__proto__": "x"}}') as JsonObject;
  const again = decode('google.protobuf.Struct', encode('google.protobuf.Struct', json));
  assert.equal(JSON.stringify(again), JSON.stringify(json));
});
