import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ReplyBounds } from './reply-bounds.ts';

const TOO_LARGE = { name: 'RedisUnavailable', message: 'its reply is too large' };
const NO_REPLY = { name: 'RedisUnavailable', message: 'it does not speak the protocol of Redis' };

/** Looks at a text in pieces of so many bytes. */
function look(text: string, size = text.length): void {
  const bounds = new ReplyBounds();
  for (let at = 0; at < text.length; at += size)
    bounds.look(Buffer.from(text.slice(at, at + size), 'latin1'));
}

describe('the bounds of replies of Redis', () => {
  for (const size of [1, 2, 3, 1_000])
    test(`let replies pass in pieces of ${size} bytes`, () =>
      look(
        [
          ...[
            '+OK\r\n',
            '-MOVED 1 a:1\r\n',
            ':-5\r\n',
            '$-1\r\n',
            '$0\r\n\r\n',
            '$4\r\n\r\n*9\r\n',
          ],
          ...['*-1\r\n', '*0\r\n', '*2\r\n*2\r\n:1\r\n*0\r\n$1\r\na\r\n', '+PONG\r\n'],
        ].join(''),
        size,
      ));

  test('count for each reply', () => look(`*1000000\r\n${':1\r\n'.repeat(1_000_000)}`.repeat(2)));

  for (const [what, text] of [
    ['an array that is too long', '*1048577\r'],
    ['arrays that are too long together', '*600000\r\n'.repeat(2)],
    ['a depth', '*1\r\n'.repeat(17)],
    ['a text', '$16777217\r'],
    ['texts together', `*2\r\n$9000000\r\n${'a'.repeat(9_000_000)}\r\n$9000000\r`],
    ['a line', `+${'a'.repeat(70_000)}`],
  ] as const)
    test(`refuse ${what}`, () => assert.throws(() => look(text), TOO_LARGE));

  for (const text of ['(9', '>1\r\n', '%1\r\n', '|', 'HTTP/1.1', '*1.5\r', '*\r', '$-2\r', '*-3\r'])
    test(`refuse ${JSON.stringify(text)}, also byte by byte`, () => {
      assert.throws(() => look(text), NO_REPLY);
      assert.throws(() => look(text, 1), NO_REPLY);
    });
});
