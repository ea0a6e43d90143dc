import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keySlot } from './key-slot.ts';

/** What CLUSTER KEYSLOT of Redis 7.0 says. */
const SLOTS_OF_REDIS = [
  ['', 0],
  ['123456789', 12739],
  ['{user1000}.following', 3443],
  ['foo{}{bar}', 8363],
  ['foo{{bar}}zap', 4015],
  ['foo{bar}{zap}', 5061],
  ['{', 4092],
  ['}{', 12793],
  ['a{b', 13340],
  ['{ü}x', 9552],
  ['日本', 10949],
  ['x\u0000y', 7703],
  ['gateway:ratelimit:{abc}', 7638],
] as const;

for (const [key, slot] of SLOTS_OF_REDIS)
  test(`the key ${JSON.stringify(key)} is in slot ${slot}`, () => assert.equal(keySlot(key), slot));
