import { after, before, describe } from 'node:test';
import { type RedisCluster, startCluster } from '#redis/testing/redis-cluster.ts';
import { type RedisServer, startRedis, whyNoRedis } from '#redis/testing/redis-server.ts';
import { describeRecordStore } from '../testing/describe-record-store.ts';
import { openRedisStores } from '../testing/redis-stores.ts';

const skip = whyNoRedis() ?? false;

describe('records in Redis', { skip }, () => {
  let server: RedisServer;
  before(async () => {
    server = await startRedis();
  });
  after(() => server.remove());

  describeRecordStore(() => openRedisStores(`redis://${server.address}`, [server.port]));
});

describe('records in a cluster of Redis', { skip }, () => {
  let cluster: RedisCluster;
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.remove());

  describeRecordStore(() =>
    openRedisStores(
      `redis-cluster://${cluster.addresses}`,
      cluster.masters.map(({ port }) => port),
    ),
  );
});
