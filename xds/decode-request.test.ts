import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WireError } from '#protos/wire-reader.ts';
import { decodeDeltaRequest, decodeRequest } from './decode-request.ts';
import { MAX_NAMES } from './request-check.ts';

const MIB = 1024 * 1024;

/** So many empty texts or messages of a field, whose tag is given as hex. */
const many = (count: number, tag: string) => Buffer.alloc(2 * count, `${tag}00`, 'hex');

test('of more names than a stream may have one more is read', () => {
  const bytes = many(2 * MAX_NAMES, '1a');
  assert.equal(decodeRequest(bytes).resource_names.length, MAX_NAMES + 1);
  const { resource_names_subscribe, resource_names_unsubscribe } = decodeDeltaRequest(
    Buffer.concat([many(MAX_NAMES, '1a'), many(MAX_NAMES, '22')]),
  );
  assert.equal(resource_names_subscribe.length, MAX_NAMES);
  assert.equal(resource_names_unsubscribe.length, 1);
});

test('of more versions than a stream may have one more is read', () => {
  const { initial_resource_versions } = decodeDeltaRequest(many(2 * MAX_NAMES, '2a'));
  assert.equal(initial_resource_versions.size, MAX_NAMES + 1);
});

test('a request of millions of messages is not read', () => {
  // 4 MiB of `details` in an error: field 6 of one variant, and 7 of the other.
  const details = many(2 * MIB, '1a');
  const inError = (tag: string) => Buffer.concat([Buffer.from(`${tag}80808002`, 'hex'), details]);
  assert.throws(() => decodeRequest(inError('32')), WireError);
  assert.throws(() => decodeDeltaRequest(inError('3a')), WireError);
});
