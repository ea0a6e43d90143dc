import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { framed } from '#grpc/http2/grpc-blocks.ts';
import { MessageReader } from './message-reader.ts';
import { type Failure, isFailure } from './method.ts';

const MAX = 1_000;
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

/** Returns the result of a call with these pieces. */
function read(pieces: readonly Buffer[], encoding = ''): Buffer | Failure {
  const reader = new MessageReader(MAX, encoding);
  for (const piece of pieces) {
    const failed = reader.push(piece);
    if (failed !== undefined) return failed;
  }
  return reader.message();
}

function codeOf(result: Buffer | Failure): string {
  return isFailure(result) ? result.failed : result.toString('hex');
}

describe('a message is read', () => {
  for (const [what, pieces, message] of [
    ['in one piece', ['00 00000003 616263'], '616263'],
    ['after its prefix', ['00 00000003', '616263'], '616263'],
    ['in a cut prefix', ['00 00', '0000', '03 61', '6263'], '616263'],
    ['byte by byte', ['00', '00', '00', '00', '03', '61', '62', '63'], '616263'],
    ['between empty pieces', ['', '00 00000001', '', '61', ''], '61'],
    ['when it is empty', ['00 00000000'], ''],
    ['when it is as long as may be', [`00 000003e8 ${'61'.repeat(MAX)}`], '61'.repeat(MAX)],
  ] as const)
    test(what, () => assert.equal(codeOf(read(pieces.map(hex))), message));

  test('however it is cut', () => {
    const message = Buffer.from(Array.from({ length: 40 }, (_, at) => at));
    const wire = framed(message);
    for (let first = 0; first <= wire.length; first++) {
      for (let second = first; second <= wire.length; second++) {
        const pieces = [
          wire.subarray(0, first),
          wire.subarray(first, second),
          wire.subarray(second),
        ];
        assert.equal(
          codeOf(read(pieces)),
          message.toString('hex'),
          `cut at ${first} and ${second}`,
        );
      }
    }
  });
});

describe('a call is refused', () => {
  for (const [what, pieces, code] of [
    ['without a message', [], 'UNIMPLEMENTED'],
    ['without a message but with an empty frame', [''], 'UNIMPLEMENTED'],
    ['with half a prefix', ['00 0000'], 'INTERNAL'],
    ['with half a message', ['00 00000003 61'], 'INTERNAL'],
    ['with two messages', ['00 00000001 61 00 00000001 62'], 'UNIMPLEMENTED'],
    ['with two messages in two pieces', ['00 00000001 61', '00 00000001 62'], 'UNIMPLEMENTED'],
    ['with one byte too many', ['00 00000001 61 00'], 'UNIMPLEMENTED'],
    ['with an unknown flag', ['02 00000001 61'], 'INTERNAL'],
    ['with a message over the limit, by its prefix alone', ['00 000003e9'], 'RESOURCE_EXHAUSTED'],
    ['with the longest message that can be said', ['00 ffffffff'], 'RESOURCE_EXHAUSTED'],
  ] as const)
    test(`${what}: ${code}`, () => assert.equal(codeOf(read(pieces.map(hex))), code));

  for (const [encoding, code] of [
    ['', 'INTERNAL'],
    ['identity', 'INTERNAL'],
    ['gzip', 'UNIMPLEMENTED'],
  ] as const)
    test(`with a compressed message and grpc-encoding "${encoding}": ${code}`, () =>
      assert.equal(codeOf(read([hex('01 00000001 61')], encoding)), code));

  test('not for an encoding that its message does not use', () =>
    assert.equal(codeOf(read([hex('00 00000001 61')], 'gzip')), '61'));
});

test('a message in a million pieces takes no longer than its bytes', () => {
  const reader = new MessageReader(2 ** 20, '');
  const wire = framed(Buffer.alloc(2 ** 20, 'a'));
  for (let at = 0; at < wire.length; at++)
    assert.equal(reader.push(wire.subarray(at, at + 1)), undefined);
  assert.deepEqual(reader.message(), wire.subarray(5));
});

test('after a refusal nothing is kept', () => {
  const reader = new MessageReader(MAX, '');
  reader.push(hex('00 ffffffff'));
  assert.deepEqual(reader.message(), new MessageReader(MAX, '').message());
});

test('a piece that waits is a copy, which keeps nothing else alive', () => {
  const read = Buffer.alloc(64 * 1_024);
  const reader = new MessageReader(MAX, '');
  reader.push(read.subarray(0, 1));
  read[0] = 0xff;
  assert.equal(reader.push(hex('00000000').subarray(0, 4)), undefined);
  assert.deepEqual(reader.message(), Buffer.alloc(0));
});
