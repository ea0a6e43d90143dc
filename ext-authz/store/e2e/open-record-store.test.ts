import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { LinkEvent } from '#redis/connect.ts';
import { describeRedis } from '#redis/testing/open-redis.ts';
import { startRedis, whyNoRedis } from '#redis/testing/redis-server.ts';
import { until } from '#redis/testing/until.ts';
import { openRecordStore } from '../open-record-store.ts';
import { bytes, MINUTE, textOf } from '../testing/test-stores.ts';

type Test = { readonly after: (run: () => Promise<void>) => void };

const CLOCKS = { now: () => Date.now(), uptime: () => performance.now(), random: () => 0.5 };

describe('the store of the configuration', () => {
  test('without Redis is a file', async t => {
    const folder = await ownFolder(t);
    const store = await open(folder, undefined);
    await store.create('key', bytes('v'), MINUTE);
    await store.close();
    assert.deepEqual(await readdir(folder), ['records.sqlite']);
  });

  test('with Redis is there, and says when it is connected', {
    skip: whyNoRedis() ?? false,
  }, async t => {
    const server = await startRedis();
    t.after(server.remove);
    const events: LinkEvent[] = [];
    const folder = await ownFolder(t);
    const store = await open(folder, `redis://${server.address}`, events);
    t.after(store.close.bind(store));
    await until('Redis is connected', () => events.length > 0);
    await store.create('key', bytes('v'), MINUTE);
    assert.equal(textOf(await store.take('key')), 'v');
    assert.deepEqual(events, [{ connected: true, address: server.address }]);
    assert.deepEqual(await readdir(folder), []);
  });

  async function ownFolder(t: Test): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-store-'));
    t.after(() => rm(folder, { recursive: true }));
    return folder;
  }

  function open(folder: string, url: string | undefined, events: LinkEvent[] = []) {
    return openRecordStore({
      ...CLOCKS,
      redis: url === undefined ? undefined : describeRedis(url),
      file: join(folder, 'records.sqlite'),
      timeoutMs: 1000,
      onEvent: event => events.push(event),
    });
  }
});
