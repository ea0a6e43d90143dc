import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#protos/json.ts';
import { seededRandom } from '#protos/testing/random.ts';
import { pathStart } from './path-start.ts';
import { shardsOf } from './shards.ts';

type Matching = { readonly match: JsonObject; matches(path: string): boolean };

const STARTS = ['/', '/a', '/A', '/ab', '/b/', '/b/c', '/aa', '/é', '/a|', '/a*', ''];

/** Returns a route whose meaning is written down a second time, as Envoy's documents tell it. */
function randomRoute(random: () => number): Matching {
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
  const text =
    pick(STARTS) + pick(STARTS) + pick(['', 'x', 'b/', String(Math.floor(random() * 40))]);
  const fold = random() < 0.2;
  const compared = (path: string) => (fold ? path.toLowerCase() : path);
  const case_sensitive = !fold;
  const regex = pick([
    `${text.replaceAll(/[|*]/g, '\\$&')}.*`,
    '/a+b?.*',
    '/ab*c{2}.*',
    '/a\\.b|/b.*',
    '(?i)/A.*',
    '^/b/c\\/?.+$',
    '/aa(?:/|x).*',
    '.*x',
    '/[ab]/.*',
  ]);
  const whole = new RegExp(
    `^(?:${regex.replace('(?i)', '')})$`,
    regex.startsWith('(?i)') ? 'is' : 's',
  );
  return pick<Matching>([
    {
      match: { prefix: text, case_sensitive },
      matches: path => compared(path).startsWith(compared(text)),
    },
    {
      match: { path: text, case_sensitive },
      matches: path => compared(path) === compared(text),
    },
    {
      match: { path_separated_prefix: text, case_sensitive },
      matches: path => `${compared(path)}/`.startsWith(`${compared(text)}/`),
    },
    { match: { safe_regex: { regex } }, matches: path => whole.test(path) },
  ]);
}

function randomPath(random: () => number): string {
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
  const path = `/${pick(STARTS)}${pick(STARTS)}${pick(['', '/', 'x', 'bcc', '7', '31', '.b', 'B'])}`;
  return path.replace(/^\/+/, '/');
}

test('the first route of a request in its shard is the first of the whole list', () => {
  const seen = { asked: 0, matched: 0, shards: 0, uncut: 0 };
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = seededRandom(seed);
    const list = Array.from({ length: 2 + Math.floor(random() * 120) }, () => {
      const route = randomRoute(random);
      return { route, at: pathStart(route.match) };
    });
    const shards = shardsOf(list, 1 + Math.floor(random() * 16));
    if (shards === undefined) {
      seen.uncut += 1;
      continue;
    }
    seen.shards += shards.length;
    const lists = new Map(shards.map(({ key, routes }) => [key, routes]));
    assert.equal(lists.size, shards.length, `two shards with one key, seed ${seed}`);
    const copies = shards.reduce((sum, { routes }) => sum + routes.length, 0);
    assert.ok(copies <= 4 * list.length, `${copies} of ${list.length}, seed ${seed}`);
    for (let asked = 0; asked < 200; asked += 1) {
      const path = randomPath(random);
      const inList = list.find(({ route }) => route.matches(path))?.route;
      const inShard = shardOf(lists, path)?.find(({ route }) => route.matches(path))?.route;
      assert.equal(inShard, inList, `${path}, seed ${seed}`);
      seen.asked += 1;
      if (inList !== undefined) seen.matched += 1;
    }
  }
  assert.ok(seen.asked > SEEDS * 50 && seen.matched > seen.asked / 4, JSON.stringify(seen));
  assert.ok(seen.shards > SEEDS * 3 && seen.uncut > 0, JSON.stringify(seen));
});

/** `SHARD_SEEDS=50000` asks for ten million paths. */
const SEEDS = Number(process.env.SHARD_SEEDS ?? 300);

/** Envoy takes the longest key that the path begins with, in lower case. */
function shardOf<T>(lists: ReadonlyMap<string, T>, path: string): T | undefined {
  const lower = path.replaceAll(/[A-Z]/g, letter => letter.toLowerCase());
  for (let length = lower.length; length >= 0; length -= 1) {
    const list = lists.get(lower.slice(0, length));
    if (list !== undefined) return list;
  }
  return undefined;
}

test('ten thousand routes become short lists, and few lengths of keys', () => {
  const list = Array.from({ length: 10_000 }, (_, index) => {
    const match = { prefix: `/svc-${index}/api/` };
    return { route: match, at: pathStart(match) };
  });
  const catchAll = { route: { prefix: '/' }, at: pathStart({ prefix: '/' }) };
  const shards = shardsOf([...list, catchAll], 64) ?? [];
  assert.ok(shards.every(({ routes }) => routes.length <= 64));
  assert.ok(shards.length < 1_000, `${shards.length} shards`);
  assert.ok(new Set(shards.map(({ key }) => key.length)).size <= 5);
});

test('routes that all begin alike stay one list', () => {
  const match = { prefix: '/a' };
  const list = Array.from({ length: 100 }, () => ({ route: match, at: pathStart(match) }));
  assert.equal(shardsOf(list, 64), undefined);
});

test('only what every path of an expression begins with counts', () => {
  const starts = new Map([
    ['/user/.*', '/user/'],
    ['/User/[0-9]+', '/user/'],
    ['^/a\\.b(?:c)?', '/a.b'],
    ['/ab?c', '/a'],
    ['/ab*', '/a'],
    ['/ab{0}', '/a'],
    ['/ab+', '/ab'],
    ['/a|/b', ''],
    ['(?i)/a', ''],
    ['\\Q/a\\E', ''],
    ['/a\\d', '/a'],
    ['/é', '/'],
  ]);
  for (const [regex, start] of starts)
    assert.equal(pathStart({ safe_regex: { regex } }).start, start, regex);
});
