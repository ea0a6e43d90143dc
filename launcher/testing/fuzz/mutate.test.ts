import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '#protos/testing/random.ts';
import { mutateMessage, readFields, writeFields } from './mutate-message.ts';
import { mutateRequest } from './mutate-request.ts';

/** Field 1 is a message with the text "ab" in its field 2, field 3 the number 300. */
const MESSAGE = Buffer.from('0a041202616218ac02', 'hex');
const REQUEST = 'POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"a":"b"}';
const SEEDS = Array.from({ length: 2_000 }, (_, seed) => seed);

test('the fields of a message are read, and written as they were', () => {
  const fields = readFields(MESSAGE);
  assert.deepEqual(
    fields?.map(({ number, wireType }) => [number, wireType]),
    [
      [1, 2],
      [3, 0],
    ],
  );
  assert.deepEqual(writeFields(fields ?? []), MESSAGE);
  assert.equal(readFields(Buffer.from('0a05', 'hex')), undefined, 'a value that is cut off');
  assert.equal(readFields(Buffer.from('03', 'hex')), undefined, 'the field number 0');
});

test('mutations of a message are as their seed says, of many kinds, and of any depth', () => {
  const mutated = SEEDS.map(seed => mutateMessage(MESSAGE, seededRandom(seed)).toString('hex'));
  assert.deepEqual(mutated[7], mutateMessage(MESSAGE, seededRandom(7)).toString('hex'));
  assert.ok(new Set(mutated).size > 300);
  const inner = mutated.flatMap(hex => readFields(Buffer.from(hex, 'hex'))?.[0] ?? []);
  const texts = inner.flatMap(({ value }) => readFields(value)?.[0]?.value.toString('hex') ?? []);
  for (const odd of ['', 'ff', 'eda080', '61f09f98'])
    assert.ok(texts.includes(odd), `no text of ${odd}`);
  assert.ok(mutated.some(hex => hex.length > 200_000) && mutated.includes('18ac02'));
});

test('mutations of a request change its method, its path, its headers and its body', () => {
  const mutated = SEEDS.map(seed => mutateRequest(REQUEST, seededRandom(seed)).toString('latin1'));
  assert.ok(new Set(mutated).size > 300);
  for (const pattern of [/^PUT /, /^POST \/\*\?/, /\r\nCookie: /, /\r\n\r\n\{"a":"\*"\}/])
    assert.ok(
      mutated.some(text => pattern.test(text)),
      String(pattern),
    );
});
