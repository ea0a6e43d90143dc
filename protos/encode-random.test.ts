import assert from 'node:assert/strict';
import { test } from 'node:test';
import protobuf from 'protobufjs';
import { encode } from './encode.ts';
import { messageEncoder } from './encode-message.ts';
import type { Json, JsonObject } from './json.ts';
import { findType } from './root.ts';
import { cases } from './testing/cases.ts';
import { pick, seededRandom } from './testing/random.ts';
import { randomMessage } from './testing/random-message.ts';
import { toProtobufjs } from './testing/to-protobufjs.ts';
import { WireWriter } from './wire-writer.ts';

test('the order of keys changes no byte, also in maps and Structs', () => {
  for (let seed = 0; seed < cases({ all: 1_000, quick: 250 }); seed++) {
    const random = seededRandom(seed);
    const type = pick(
      ['listener.v3.Listener', 'route.v3.RouteConfiguration', 'cluster.v3.Cluster'],
      random,
    );
    const name = `envoy.config.${type}`;
    const json = randomMessage(findType(name) as protobuf.Type, random, 4) as JsonObject;
    assert.deepEqual(
      encode(name, reversed(json) as JsonObject),
      encode(name, json),
      `seed ${seed}`,
    );
  }
});

function read(type: protobuf.Type, bytes: Uint8Array): object {
  return type.toObject(type.decode(bytes), { bytes: String, longs: String, defaults: true });
}

function reversed(json: Json): Json {
  if (Array.isArray(json)) return json.map(reversed);
  if (json === null || typeof json !== 'object') return json;
  return Object.fromEntries(
    Object.entries(json)
      .reverse()
      .map(([key, value]) => [key, reversed(value as Json)]),
  );
}

for (const name of [
  'envoy.config.listener.v3.Listener',
  'envoy.config.route.v3.RouteConfiguration',
  'envoy.config.cluster.v3.Cluster',
  'envoy.service.auth.v3.CheckRequest',
]) {
  test(`a ${name} is read as the one that protobufjs encodes`, () => {
    const type = findType(name) as protobuf.Type;
    for (let seed = 0; seed < cases({ all: 100, quick: 25 }); seed++) {
      const json = randomMessage(type, seededRandom(seed));
      const theirs = type.encode(type.fromObject(toProtobufjs(type, json) as object)).finish();
      assert.deepEqual(
        read(type, encode(name, json as JsonObject)),
        read(type, theirs),
        `seed ${seed}`,
      );
    }
  });
}

test('every scalar type, packed, in a map and with presence, is read by protobufjs as it was written', () => {
  const scalars = [
    'double',
    'float',
    'int32',
    'int64',
    'uint32',
    'uint64',
    'sint32',
    'sint64',
    'fixed32',
    'fixed64',
    'sfixed32',
    'sfixed64',
    'bool',
    'string',
    'bytes',
  ];
  const fields = scalars.flatMap((type, i) => [
    `${type} one_${type} = ${i + 1};`,
    `repeated ${type} many_${type} = ${i + 101};`,
    `map<string, ${type}> map_${type} = ${i + 201};`,
    `optional ${type} maybe_${type} = ${i + 301};`,
  ]);
  const parsed = protobuf
    .parse(`syntax = "proto3"; message M { ${fields.join('\n')} }`, { keepCase: true })
    .root.resolveAll();
  const type = parsed.lookupType('M');
  for (let seed = 0; seed < 200; seed++) {
    const json = randomMessage(type, seededRandom(seed));
    const writer = new WireWriter();
    messageEncoder(type)(writer, json, '');
    const theirs = type.encode(type.fromObject(toProtobufjs(type, json) as object)).finish();
    assert.deepEqual(read(type, writer.copy()), read(type, theirs), `seed ${seed}`);
  }
});
