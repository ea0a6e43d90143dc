import assert from 'node:assert/strict';
import { test } from 'node:test';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';
import type { Api } from './api-file.ts';
import { readApi } from './api-file.ts';
import { compileApi } from './compile-api.ts';

const NAME = 'test/v1/test.proto';
const MESSAGE = { type: 11, label: 1 };

/** What declares the rules, as Envoy has it. */
const RULES = [
  'validate/validate.proto',
  'google/protobuf/duration.proto',
  'google/protobuf/timestamp.proto',
];
const envoy = new Map(
  Object.entries(readApi() ?? {}).map(([name, file]) => [
    name,
    Buffer.from(file.descriptor, 'base64'),
  ]),
);

function compile(file: object, others: readonly string[] = RULES): Api {
  const described = { name: NAME, package: 'test.v1', syntax: 'proto3', ...file };
  const embedded = new Map(others.map(name => [name, envoy.get(name) as Buffer]));
  const bytes = descriptor.FileDescriptorProto.encode(described).finish();
  return compileApi(new Map([...embedded, [NAME, Buffer.from(bytes)]]), [NAME]);
}

function typeOf(file: object): protobuf.Type {
  const root = new protobuf.Root();
  root.define('test.v1').addJSON(compile(file)[NAME]?.nested ?? {});
  return root.resolveAll().lookupType('test.v1.M');
}

test('a map, a oneof, a list and an optional field are what the file says', () => {
  const entry = {
    name: 'MapEntry',
    options: { mapEntry: true },
    field: [
      { name: 'key', number: 1, type: 9, label: 1 },
      { name: 'value', number: 2, typeName: '.test.v1.M', ...MESSAGE },
    ],
  };
  const field = [
    { name: 'map', number: 1, type: 11, label: 3, typeName: '.test.v1.M.MapEntry' },
    { name: 'a', number: 2, type: 9, label: 1, oneofIndex: 0 },
    { name: 'b', number: 3, type: 13, label: 1, oneofIndex: 0 },
    { name: 'numbers', number: 4, type: 5, label: 3 },
    { name: 'loose', number: 5, type: 5, label: 3, options: { packed: false } },
    { name: 'maybe', number: 6, type: 8, label: 1, oneofIndex: 1, proto3Optional: true },
  ];
  const oneofDecl = [{ name: 'either' }, { name: '_maybe' }];
  const type = typeOf({ messageType: [{ name: 'M', field, oneofDecl, nestedType: [entry] }] });
  const message = { map: { x: { a: '' } }, b: 0, numbers: [1, 2], loose: [1, 2], maybe: false };
  const bytes = type.encode(type.fromObject(message)).finish();
  assert.equal(Buffer.from(bytes).toString('hex'), '0a070a017812021200180022020102280128023000');
  assert.deepEqual(type.toObject(type.decode(bytes)), message);
  assert.deepEqual(Object.keys(type.nested ?? {}), []);
});

test('only reachable declarations are included, with the files that they use', () => {
  const used = 'google/protobuf/duration.proto';
  const field = [{ name: 'd', number: 1, typeName: '.google.protobuf.Duration', ...MESSAGE }];
  const api = compile({ dependency: [used], messageType: [{ name: 'M', field }] });
  assert.deepEqual(Object.keys(api), [NAME, used]);
  assert.deepEqual(api[NAME]?.uses, [used]);
});

test('an empty file declares nothing', () => {
  assert.deepEqual(compile({})[NAME]?.nested, {});
});

test('rules are kept for fields and oneofs', () => {
  const { SocketAddress } = readApi()?.['envoy/config/core/v3/address.proto']?.nested ?? {};
  const { fields, oneofs } = SocketAddress as protobuf.IType;
  assert.deepEqual(fields.port_value?.options, { '(validate.rules)': { uint32: { lte: 65535 } } });
  assert.deepEqual(oneofs?.port_specifier?.options, { '(validate.required)': true });
});

for (const [what, file, others, wanted] of [
  ['a file', { dependency: ['test/v1/none.proto'] }, RULES, 'no test/v1/none.proto'],
  ['the rules', {}, [], 'no validate/validate.proto'],
  [
    'a type',
    {
      messageType: [
        { name: 'M', field: [{ name: 'a', number: 1, typeName: '.test.v1.N', ...MESSAGE }] },
      ],
    },
    RULES,
    'no file that declares .test.v1.N',
  ],
] as const)
  test(`a program that lacks ${what} gives no API`, () => {
    assert.throws(() => compile(file, others), { message: wanted });
  });
