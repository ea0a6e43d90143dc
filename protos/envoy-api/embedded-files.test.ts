import assert from 'node:assert/strict';
import { test } from 'node:test';
import descriptor from 'protobufjs/ext/descriptor/index.js';
import { embeddedFiles } from './embedded-files.ts';

const NOISE = Buffer.from('\0\x01.text a/b.proto\0\n\x05other');

function described(name: string, rest: object = {}): Buffer {
  const file = { name, package: 'test.v1', syntax: 'proto3', ...rest };
  return Buffer.from(descriptor.FileDescriptorProto.encode(file).finish());
}

function filesIn(...parts: readonly Buffer[]): Record<string, string> {
  const files = [...embeddedFiles(Buffer.concat(parts))];
  return Object.fromEntries(
    files.map(([name, bytes]) => [name, Buffer.from(bytes).toString('hex')]),
  );
}

const A = described('test/v1/a.proto', {
  dependency: ['test/v1/b.proto'],
  messageType: [{ name: 'A', field: [{ name: 'b', number: 1, type: 9, label: 1 }] }],
  enumType: [{ name: 'E', value: [{ name: 'ZERO', number: 0 }] }],
  options: { javaPackage: 'test' },
});
const B = described('test/v1/b.proto');

test('files are found among other bytes, to their last byte', () => {
  const wanted = { 'test/v1/a.proto': A.toString('hex'), 'test/v1/b.proto': B.toString('hex') };
  assert.deepEqual(filesIn(NOISE, A, NOISE, B, NOISE), wanted);
  assert.deepEqual(filesIn(A, Buffer.from([0]), B), wanted);
  assert.deepEqual(filesIn(A, B), wanted);
});

test('of a file that is there twice the one without JSON names counts', () => {
  const named = described('test/v1/a.proto', {
    messageType: [
      { name: 'A', field: [{ name: 'b', number: 1, type: 9, label: 1, jsonName: 'b' }] },
    ],
    dependency: ['test/v1/b.proto', 'test/v1/c.proto', 'test/v1/d.proto', 'test/v1/e.proto'],
  });
  for (const order of [
    [named, A],
    [A, named],
  ])
    assert.deepEqual(filesIn(NOISE, ...order, NOISE), { 'test/v1/a.proto': A.toString('hex') });
});

test('a name as long as a byte allows is read, and a longer one skipped', () => {
  const longest = `${'n'.repeat(121)}.proto`;
  assert.deepEqual(Object.keys(filesIn(NOISE, described(longest), NOISE)), [longest]);
  assert.deepEqual(filesIn(NOISE, described(`n${longest}`), NOISE), {});
});

for (const [what, bytes] of [
  ['nothing', Buffer.alloc(0)],
  ['noise', NOISE],
  ['the end of a name alone', Buffer.from('.proto\x12')],
  ['a name behind another tag', Buffer.from('\x1a\x07a.proto\x12')],
] as const)
  test(`no file is found in ${what}`, () => {
    assert.deepEqual(filesIn(bytes), {});
  });

test('a file that the program cuts off ends with its last whole field', () => {
  for (let length = B.indexOf('.proto') + 7; length < B.length; length++) {
    const [found = ''] = Object.values(filesIn(NOISE, B.subarray(0, length)));
    assert.ok(found.length <= length * 2);
  }
});
