import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import protobuf from 'protobufjs';
import { messageTypes } from './message-types.ts';
import { keptRoot, keyOf } from './parsed-protos.ts';
import { parse } from './root.ts';

const folder = mkdtempSync(join(tmpdir(), 'protos-'));
after(() => rmSync(folder, { recursive: true }));

const parsed = parse();

/** What encoding, decoding, services and rules look at. */
function described(root: protobuf.Root): readonly string[] {
  root.resolveAll();
  return root.nestedArray.flatMap(nested => inNamespace(nested));
}

function inNamespace(declared: protobuf.ReflectionObject): readonly string[] {
  const nested =
    declared instanceof protobuf.Namespace ? declared.nestedArray.flatMap(inNamespace) : [];
  return [`${declared.fullName} ${JSON.stringify(factsOf(declared))}`, ...nested];
}

function factsOf(declared: protobuf.ReflectionObject): unknown {
  if (declared instanceof protobuf.Type)
    return [
      declared.fieldsArray.toSorted((a, b) => a.id - b.id).map(factsOf),
      declared.oneofsArray.map(factsOf),
    ];
  if (declared instanceof protobuf.OneOf)
    return [declared.name, declared.oneof, declared.parsedOptions];
  if (declared instanceof protobuf.Enum) return [declared.values, declared.reserved];
  if (declared instanceof protobuf.Service)
    return declared.methodsArray.map(method => [
      ...[
        method.fullName,
        method.resolvedRequestType?.fullName,
        method.resolvedResponseType?.fullName,
      ],
      ...[method.requestStream ?? false, method.responseStream ?? false],
    ]);
  return declared instanceof protobuf.Field ? fieldFacts(declared) : declared.options;
}

function fieldFacts(field: protobuf.Field): unknown {
  const { name, id, type, map, repeated, required, packed, partOf, hasPresence } = field;
  const key = field instanceof protobuf.MapField ? field.keyType : undefined;
  return [
    ...[name, id, type, key, map, repeated, required, packed, hasPresence, partOf?.name],
    ...[
      field.resolvedType?.fullName,
      field.extend,
      field.parsedOptions,
      String(field.defaultValue),
    ],
  ];
}

describe('.proto files that were parsed before', () => {
  test('say what they said, also of rules and services', () => {
    assert.equal(
      keptRoot(folder, 'one', () => parsed),
      parsed,
    );
    const kept = keptRoot(folder, 'one', () => assert.fail('it is kept'));
    const expected = new Set(described(parsed));
    const found = new Set(described(kept));
    assert.deepEqual([[...expected.difference(found)], [...found.difference(expected)]], [[], []]);
    assert.ok(messageTypes(kept).length > 500);
    assert.deepEqual(readdirSync(folder), ['protos.json']);
  });

  test('are parsed again when something else is to be parsed', () => {
    let times = 0;
    const count = () => {
      times += 1;
      return parsed;
    };
    for (const key of ['two', 'two', 'three']) keptRoot(folder, key, count);
    assert.equal(times, 2);
  });

  for (const [what, content] of [
    ['cut off', () => readFileSync(join(folder, 'protos.json'), 'utf8').slice(0, 10_000)],
    ['empty', () => ''],
    ['something else', () => '[null]'],
    ['nothing', () => 'null'],
  ] as const)
    test(`are parsed again when what was kept is ${what}`, () => {
      keptRoot(folder, 'four', () => parsed);
      writeFileSync(join(folder, 'protos.json'), content());
      assert.equal(
        keptRoot(folder, 'four', () => parsed),
        parsed,
      );
      assert.notEqual(
        keptRoot(folder, 'four', () => assert.fail('it is kept again')),
        parsed,
      );
    });

  test('are parsed each time where nothing can be kept', () => {
    const file = join(folder, 'protos.json');
    for (const _ of [1, 2])
      assert.equal(
        keptRoot(file, 'five', () => parsed),
        parsed,
      );
  });

  test('have another key when one of them, or their order, is another', () => {
    const keys = [['a', 'b'], ['a', 'c'], ['b', 'a'], ['ab'], ['a', 'b', '']].map(keyOf);
    assert.equal(new Set(keys).size, keys.length);
    assert.equal(keyOf(['a', 'b']), keys[0]);
  });
});
