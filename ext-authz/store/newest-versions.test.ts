import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { cases } from '#protos/testing/cases.ts';
import { pick, seededRandom } from '#protos/testing/random.ts';
import { NewestVersions } from './newest-versions.ts';
import type { RecordStore } from './record-store.ts';
import { openSqliteRecordStore } from './sqlite-record-store.ts';
import { bytes, MINUTE } from './testing/test-stores.ts';

/** Two connections to one file, as two processes have, with one clock that is set by `at`. */
async function twoStores(t: TestContext, maxRecords = 1_000) {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-newest-'));
  const clock = { at: 1_700_000_000_000 };
  const options = { now: () => clock.at, uptime: () => performance.now(), maxRecords };
  const open = () => openSqliteRecordStore(join(folder, 'records.sqlite'), options);
  const [one, two] = [await open(), await open()];
  t.after(async () => {
    await Promise.all([one.close(), two.close()]);
    await rm(folder, { recursive: true });
  });
  return { one, two, clock };
}

/** A record that this store has found to be the newest, twice. */
async function known(store: RecordStore, key: string, ttlMs = MINUTE): Promise<string> {
  await store.create(key, bytes('v'), ttlMs);
  const { version = '' } = (await store.read(key)) ?? {};
  for (let times = 0; times < 2; times++)
    assert.deepEqual(await store.read(key, version), { version, value: new Uint8Array() });
  await nextTurn();
  return version;
}

test('what another connection has removed is gone in the next turn', async t => {
  const { one, two } = await twoStores(t);
  const version = await known(one, 'a');
  await two.remove('a');
  await nextTurn();
  assert.equal(one.read('a', version), undefined);
});

test('what another connection has replaced is read again', async t => {
  const { one, two } = await twoStores(t);
  const version = await known(one, 'a');
  await two.replace('a', version, bytes('w'), MINUTE);
  await nextTurn();
  assert.equal(Buffer.from((await one.read('a', version))?.value ?? []).toString(), 'w');
});

test('the holder of a lease sees what its last holder wrote, even in the same turn', async t => {
  const { one, two } = await twoStores(t);
  const version = await known(one, 'a');
  await two.acquire('lease', 'two', MINUTE);
  // from here on the turn believes that there was no other write
  assert.notEqual(one.read('a', version), undefined);
  const written = two.replace('a', version, bytes('w'), MINUTE);
  const released = two.release('lease', 'two');
  const acquired = one.acquire('lease', 'one', MINUTE);
  const read = one.read('a', version);
  assert.deepEqual([await written, await released, await acquired], [true, undefined, true]);
  assert.equal(Buffer.from((await read)?.value ?? []).toString(), 'w');
});

test('a known record ends when it must', async t => {
  const { one, clock } = await twoStores(t);
  const version = await known(one, 'a', 1_000);
  clock.at += 999;
  assert.notEqual(one.read('a', version), undefined);
  clock.at += 1;
  assert.equal(one.read('a', version), undefined);
});

test('what this connection removes to make room is not known any more, whichever way it goes', async t => {
  const { one, clock } = await twoStores(t, 3);
  const ending = await known(one, 'ending', 10);
  const inGroup = 'in a group';
  await one.create(inGroup, bytes('v'), 2 * MINUTE, [{ name: 'g', most: 1 }]);
  const { version: grouped = '' } = (await one.read(inGroup)) ?? {};
  const first = await known(one, 'first', MINUTE);
  for (const key of [inGroup, 'first']) await one.read(key, key === 'first' ? first : grouped);
  clock.at += 10;
  await one.create('next in the group', bytes('v'), 3 * MINUTE, [{ name: 'g', most: 1 }]);
  clock.at -= 10; // only a reader that still knew it would now let it live again
  assert.equal(one.read('ending', ending), undefined);
  assert.equal(one.read(inGroup, grouped), undefined);
  for (const key of ['b', 'c', 'd']) await one.create(key, bytes('v'), 4 * MINUTE);
  assert.equal(one.read('first', first), undefined);
});

test('reads of known versions equal those of a store that knows nothing, whichever process writes', async t => {
  const { one, two } = await twoStores(t, 6);
  const random = seededRandom(5);
  const keys = ['a', 'b', 'c', 'd'];
  const versions = new Map<string, string>();
  for (let round = 0; round < cases({ all: 3_000, quick: 750 }); round++) {
    const [key, writer] = [pick(keys, random), pick([one, two], random)];
    const what = random();
    const version = versions.get(key) ?? 'none';
    if (what < 0.1) await writer.create(key, bytes(`${round}`), MINUTE, [{ name: 'g', most: 3 }]);
    else if (what < 0.15) await writer.replace(key, version, bytes(`${round}`), MINUTE);
    else if (what < 0.2) await writer.remove(key);
    await nextTurn();
    const [found, wanted] = [await one.read(key, version), await two.read(key)];
    assert.equal(found?.version, wanted?.version, `round ${round}`);
    if (found !== undefined && found.version !== version)
      assert.deepEqual(found.value, wanted?.value);
    if (found !== undefined) versions.set(key, found.version);
  }
});

test('a file is asked once for all that is read in a turn', async () => {
  let asked = 0;
  const newest = new NewestVersions(() => {
    asked += 1;
    return 1;
  });
  newest.has('a', '1', 0);
  newest.add('a', '1', 10);
  for (let times = 0; times < 100; times++) assert.equal(newest.has('a', '1', 0), true);
  assert.equal(asked, 1);
  await nextTurn();
  newest.has('a', '1', 0);
  assert.equal(asked, 2);
});

test('versions without end are bounded', () => {
  const newest = new NewestVersions(() => 1);
  newest.has('0', '1', 0);
  for (let key = 0; key <= 20_000; key++) newest.add(String(key), '1', 10);
  assert.equal(newest.has('0', '1', 0), false);
  assert.equal(newest.has('1', '1', 0), true);
});
