import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectRedis } from '#redis/connect.ts';
import { describeRedis, OPTIONS } from '#redis/testing/open-redis.ts';
import { until } from '#redis/testing/until.ts';
import { RedisRecordStore } from '../redis-record-store.ts';
import type { TestStores } from './test-stores.ts';

/** Two replicas on a Redis whose servers are at these ports. */
export async function openRedisStores(url: string, ports: readonly number[]): Promise<TestStores> {
  const open = async () => {
    const redis = connectRedis(describeRedis(url), { ...OPTIONS, timeoutMs: 2000 });
    await until('Redis is connected', () => redis.status().connected);
    return new RedisRecordStore(redis);
  };
  const [one, two] = await Promise.all([open(), open()]);
  return {
    one,
    two,
    pass: () => {},
    dump: async () => Buffer.concat(await Promise.all(ports.map(dumpServer))),
    close: async () => void (await Promise.all([one.close(), two.close()])),
  };
}

/** The whole of a server as its snapshot has it, not compressed. */
async function dumpServer(port: number): Promise<Buffer> {
  const redis = connectRedis(describeRedis(`redis://127.0.0.1:${port}`), {
    ...OPTIONS,
    timeoutMs: 2000,
  });
  try {
    await until('Redis is connected', () => redis.status().connected);
    await redis.send('', ['CONFIG', 'SET', 'rdbcompression', 'no']);
    await redis.send('', ['SAVE']);
    const reply = await redis.send('', ['CONFIG', 'GET', 'dir']);
    return await readFile(join(Array.isArray(reply) ? String(reply[1]) : '', 'dump.rdb'));
  } finally {
    await redis.close();
  }
}
