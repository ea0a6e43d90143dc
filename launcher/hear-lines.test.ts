import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { test } from 'node:test';
import { hearLines } from './hear-lines.ts';

async function linesOf(...chunks: readonly Buffer[]): Promise<readonly string[]> {
  const stream = new PassThrough();
  const heard: string[] = [];
  hearLines(stream, line => heard.push(line));
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await finished(stream);
  return heard;
}

for (const [text, lines] of [
  ['', []],
  ['a', ['a']],
  ['a\n', ['a']],
  ['\n\na\n', ['', '', 'a']],
  ['{"user_agent":"a\u2028b\u2029c\u0085d"}\n', ['{"user_agent":"a\u2028b\u2029c\u0085d"}']],
  ['é\n…\n', ['é', '…']],
] as const) {
  test(`${JSON.stringify(text)} has ${lines.length} lines, however it comes`, async () => {
    const bytes = Buffer.from(text);
    assert.deepEqual(await linesOf(bytes), lines);
    assert.deepEqual(await linesOf(...[...bytes].map(byte => Buffer.from([byte]))), lines);
  });
}
