import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Parser } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { type LastGoodKeeper, lastGoodKeeper } from './last-good-keeper.ts';

const NONE = new Map();

/**
 * Starts a keeper whose disk is full while `full`, with the times of its retries and its reports.
 */
async function keeperOnDisk(t: { after(end: () => Promise<void>): void }) {
  const disk = { full: false, isThere: false, writes: 0, told: 0 };
  const retries = new Set<() => void>();
  const keeper: LastGoodKeeper = await lastGoodKeeper({
    store: {
      read: async () => [],
      isThere: async () => disk.isThere,
      write: async () => {
        disk.writes += 1;
        if (disk.full) throw new Error('no space left');
        disk.isThere = true;
      },
    },
    parser: new Parser(DEFAULT_PARSE_OPTIONS),
    changed: () => {
      disk.told += 1;
    },
    after: (_ms, retry) => {
      retries.add(retry);
      return () => void retries.delete(retry);
    },
  });
  t.after(() => keeper.close());
  const settled = () => new Promise(resolve => setImmediate(resolve));
  return { disk, retries, keeper, settled };
}

test('what could not be kept is kept once there is space again, without another edit', async t => {
  const { disk, retries, keeper, settled } = await keeperOnDisk(t);
  disk.full = true;
  keeper.keep(NONE);
  await settled();
  assert.match(
    keeper.problems()[0]?.message ?? '',
    /cannot keep the last good resources: no space left/,
  );
  assert.equal(retries.size, 1);
  disk.full = false;
  for (const retry of retries) retry();
  await settled();
  assert.deepEqual(keeper.problems(), []);
  assert.deepEqual([disk.writes, disk.told], [2, 2]);
});

test('what came later is never overwritten by a retry of what came before', async t => {
  const { disk, keeper, settled } = await keeperOnDisk(t);
  disk.full = true;
  keeper.keep(NONE);
  keeper.keep(NONE);
  disk.full = false;
  await settled();
  assert.equal(disk.writes, 2);
});

test('nothing is tried again after the close', async t => {
  const { disk, retries, keeper } = await keeperOnDisk(t);
  disk.full = true;
  keeper.keep(NONE);
  await keeper.close();
  assert.equal(retries.size, 0);
});

test('what was kept and is deleted is kept again, without another edit', async t => {
  const { disk, retries, keeper, settled } = await keeperOnDisk(t);
  keeper.keep(NONE);
  await settled();
  const look = async () => {
    for (const again of [...retries]) again();
    await settled();
  };
  await look();
  assert.equal(disk.writes, 1, 'it is there');
  disk.isThere = false;
  await look();
  assert.deepEqual([disk.writes, disk.isThere], [2, true]);
  disk.isThere = false;
  await look();
  assert.equal(disk.writes, 3);
});
