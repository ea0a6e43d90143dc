import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { cases } from '#protos/testing/cases.ts';
import { pick, seededRandom } from '#protos/testing/random.ts';
import { indexRules, selectRule } from './policy.ts';
import type { Rule } from './rule.ts';
import { rememberedSelection } from './rule-selection.ts';

const HOSTS = ['a.test', 'b.test', '*.test', '*'];
const PATHS = ['/', '/a', '/a/*', '/b*', '*/c', '*'];

const RULES: readonly Rule[] = HOSTS.flatMap(host =>
  PATHS.map(path => ({ id: `${host} ${path}`, host, path, items: [] })),
).reverse();
const INDEX = indexRules(RULES);

test('a remembered selection is that of `selectRule`, whatever was asked before', () => {
  const select = rememberedSelection(INDEX);
  const random = seededRandom(11);
  const segments = ['a', 'b', 'c', 'a;x', '%2f', '%2e%2e', '..;', 'd', '', '#', '?', '?a=/b', '\\'];
  for (let round = 0; round < cases({ all: 30_000, quick: 7_500 }); round++) {
    const authority = pick(['a.test', 'b.test', 'c.test', 'a.test:8080', 'other'], random);
    const target = `/${pick(segments, random)}${pick(['', '/'], random)}${pick(segments, random)}`;
    assert.deepEqual(
      select({ authority, target }),
      selectRule(INDEX, { authority, target }),
      target,
    );
  }
});

test('paths without end cost no memory, nor do the messages that they came in', () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const held = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const select = rememberedSelection(INDEX);
  const ask = (from: number) => {
    for (let at = from; at < from + 30_000; at++) {
      const message = Buffer.from(`/${at}/${'p'.repeat(100)}?${'q'.repeat(8_000)}`).toString(
        'latin1',
      );
      select({ authority: `${at % 1_000}.test`, target: message.slice(0, 4_000) });
    }
  };
  const before = held();
  ask(0);
  assert.ok(held() - before < 10_000_000, `${held() - before} bytes`);
  select({ authority: 'a.test', target: '/' }); // keeps what is remembered until here
});
