import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases } from '#protos/testing/cases.ts';
import { seededRandom } from '#protos/testing/random.ts';
import { hashSpec } from './hash.ts';
import { SecretValue } from './secret-value.ts';

const random = seededRandom(11);
const below = (count: number) => Math.floor(random() * count);
const shuffled = <T>(items: readonly T[]): readonly T[] =>
  items
    .map(item => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);

test('two values have one hash when they differ in the order of keys alone, and else two', () => {
  const hashes = new Map<string, string>();
  for (let round = 0; round < cases({ all: 2_000, quick: 300 }); round++) {
    const value = randomValue(3);
    const hash = hashSpec(value);
    assert.equal(hashSpec(reordered(value)), hash);
    const meaning = meaningOf(value);
    assert.equal(hashes.get(meaning) ?? hash, hash);
    hashes.set(meaning, hash);
  }
  assert.equal(new Set(hashes.values()).size, hashes.size);
});

test('a secret is not what reads like it', () => {
  const secret = new SecretValue(Buffer.from('a'));
  assert.notEqual(hashSpec({ secret }), hashSpec({ secret: 'a' }));
});

/** Objects have few keys, or so many as a spec. */
function randomValue(depth: number): unknown {
  const leaves = [true, false, null, undefined, 0, -1.5, '', 'a', '"', 'true', 'null', '{}'];
  const kind = depth === 0 ? 0 : below(4);
  if (kind < 2) return leaves[below(leaves.length)];
  if (kind === 2) return Array.from({ length: below(3) }, () => randomValue(depth - 1));
  const count = [0, 2, 20, 20][below(4)] ?? 0;
  return Object.fromEntries(
    Array.from({ length: count }, (_, key) => [
      `${'k"é'[key % 3]}${key}`,
      below(6) > 0 ? true : randomValue(depth - 1),
    ]),
  );
}

function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    shuffled(Object.entries(value)).map(([key, field]) => [key, reordered(field)]),
  );
}

/** Returns a text that two values share when they mean the same. */
function meaningOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(item => meaningOf(item)).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields
    .map(([key, field]) => `${JSON.stringify(key)}:${meaningOf(field)}`)
    .sort()
    .join()}}`;
}
