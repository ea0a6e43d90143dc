import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pick, seededRandom } from '#protos/testing/random.ts';
import { parseGlob } from './glob.ts';
import { commonText } from './glob-relation.ts';
import { meetingIndex } from './start-index.ts';

test('every glob that has a text in common with another one is found, and few others', () => {
  const random = seededRandom(5);
  const text = () => Array.from({ length: 4 }, () => pick(['', 'a', 'b', '*'], random)).join('');
  let [found, meeting, tried] = [0, 0, 0];
  for (let round = 0; round < 500; round++) {
    const globs = Array.from({ length: 8 }, () => parseGlob(text()));
    const glob = parseGlob(text());
    const around = new Set(meetingIndex(globs, each => each)(glob));
    const common = globs.filter(each => commonText(each, glob) !== undefined);
    for (const each of common) assert.ok(around.has(each), JSON.stringify({ each, glob }));
    found += around.size;
    meeting += common.length;
    tried += globs.length;
  }
  assert.ok(meeting > 500 && found < (meeting + tried) / 2, `${meeting} ${found} ${tried}`);
});
