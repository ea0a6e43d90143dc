import protobuf from 'protobufjs';
import type { Json, JsonObject } from '../json.ts';
import { findType } from '../root.ts';
import { pick } from './random.ts';

type Random = () => number;

const DEPTH = 5;

/**
 * The content of a random Any: an empty message, a nested one, and ones whose JSON stands under
 * `value`.
 */
const IN_ANY = [
  'envoy.extensions.filters.http.router.v3.Router',
  'envoy.config.core.v3.HeaderValueOption',
  'envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute',
  'google.protobuf.Struct',
  'google.protobuf.UInt64Value',
];

const WELL_KNOWN: Readonly<Record<string, (random: Random, depth: number) => Json>> = {
  '.google.protobuf.Any': randomAny,
  '.google.protobuf.Duration': random =>
    pick(['0s', '5s', '-1.500s', '0.250s', '-0.000000001s', '3600s'], random),
  '.google.protobuf.Timestamp': random =>
    pick(['1970-01-01T00:00:00Z', '2024-02-29T12:00:00.123Z'], random),
  '.google.protobuf.Struct': randomStruct,
  '.google.protobuf.Value': randomValue,
  '.google.protobuf.ListValue': (random, depth) => [
    randomValue(random, depth - 1),
    randomValue(random, depth - 1),
  ],
  '.google.protobuf.DoubleValue': random => randomScalar('double', random),
  '.google.protobuf.FloatValue': random => randomScalar('float', random),
  '.google.protobuf.Int64Value': random => randomScalar('int64', random),
  '.google.protobuf.UInt64Value': random => randomScalar('uint64', random),
  '.google.protobuf.Int32Value': random => randomScalar('int32', random),
  '.google.protobuf.UInt32Value': random => randomScalar('uint32', random),
  '.google.protobuf.BoolValue': random => randomScalar('bool', random),
  '.google.protobuf.StringValue': random => randomScalar('string', random),
  '.google.protobuf.BytesValue': random => randomScalar('bytes', random),
};

const SCALARS: Readonly<Record<string, readonly Json[]>> = {
  string: ['', '0', 'plain', 'ü – 🙂', 'x'.repeat(300)],
  bytes: ['', 'AA==', '/+8=', 'YWJj'],
  bool: [true, false],
  double: [0, 1.5, -2e300, 'Infinity', '-Infinity', 'NaN'],
  float: [0, 1.5, -0.25, 'Infinity'],
  int32: [0, 1, -1, 127, 128, 2 ** 31 - 1, -(2 ** 31)],
  uint32: [0, 1, 127, 128, 16_384, 2 ** 32 - 1],
  int64: ['0', '1', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808'],
  uint64: ['0', '1', '128', '9007199254740993', '18446744073709551615'],
};

const SAME_VALUES: Readonly<Record<string, string>> = {
  sint32: 'int32',
  sint64: 'int64',
  sfixed32: 'int32',
  sfixed64: 'int64',
  fixed32: 'uint32',
  fixed64: 'uint64',
};

/**
 * Returns random proto3 JSON of a message type, in the form of decode. Defaults are left out where
 * they are not sent.
 */
export function randomMessage(type: protobuf.Type, random: Random, depth = DEPTH): Json {
  const wellKnown = WELL_KNOWN[type.fullName];
  if (wellKnown !== undefined) return wellKnown(random, depth);
  const fields = type.fieldsArray.filter(
    field => depth > 0 && field.partOf === null && random() < 0.4,
  );
  const members = type.oneofsArray
    .filter(() => depth > 0 && random() < 0.7)
    .map(oneof => pick(oneof.fieldsArray, random));
  const entries = [...fields, ...members]
    .sort((a, b) => a.id - b.id)
    .map(field => [field.name, randomField(field, random, depth - 1)] as const);
  return Object.fromEntries(
    entries.filter(([name, json]) => isSent(type.fields[name] as protobuf.Field, json)),
  );
}

function isSent(field: protobuf.Field, json: Json): boolean {
  if (field.partOf !== null || field.resolvedType instanceof protobuf.Type || field.repeated)
    return true;
  const isZeroWord =
    field.resolvedType instanceof protobuf.Enum && field.resolvedType.values[json as string] === 0;
  return !isZeroWord && json !== 0 && json !== '0' && json !== '' && json !== false;
}

function randomField(field: protobuf.Field, random: Random, depth: number): Json {
  const count = 1 + Math.floor(random() * 3);
  if (field.map)
    return { b: randomItem(field, random, depth), a: randomItem(field, random, depth) };
  if (field.repeated) return Array.from({ length: count }, () => randomItem(field, random, depth));
  return randomItem(field, random, depth);
}

function randomItem(field: protobuf.Field, random: Random, depth: number): Json {
  if (field.resolvedType instanceof protobuf.Type)
    return randomMessage(field.resolvedType, random, depth);
  if (field.resolvedType instanceof protobuf.Enum)
    return pick(Object.values(field.resolvedType.valuesById), random);
  return randomScalar(field.type, random);
}

function randomScalar(type: string, random: Random): Json {
  return pick(SCALARS[SAME_VALUES[type] ?? type] ?? [], random);
}

function randomAny(random: Random, depth: number): JsonObject {
  const name = pick(IN_ANY, random);
  const content = randomMessage(findType(name) as protobuf.Type, random, Math.min(depth - 1, 2));
  const typeUrl = `type.googleapis.com/${name}`;
  return name.startsWith('google.')
    ? { '@type': typeUrl, value: content }
    : { '@type': typeUrl, ...(content as JsonObject) };
}

function randomStruct(random: Random, depth: number): JsonObject {
  return depth > 0 ? { b: randomValue(random, depth - 1), a: randomValue(random, depth - 1) } : {};
}

function randomValue(random: Random, depth: number): Json {
  const leaf = pick([null, true, 1.5, 'text'], random);
  if (depth <= 0 || random() < 0.5) return leaf;
  return random() < 0.5 ? [leaf, randomValue(random, depth - 1)] : randomStruct(random, depth);
}
