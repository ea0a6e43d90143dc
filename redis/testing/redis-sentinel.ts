import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type RedisServer, startRedis } from './redis-server.ts';

export type RedisSentinels = {
  readonly master: RedisServer;
  readonly replica: RedisServer;
  readonly sentinels: readonly RedisServer[];
  readonly masterName: string;
  /** `host:port,host:port,…` of the sentinels. */
  readonly addresses: string;
  readonly remove: () => Promise<void>;
};

const MASTER_NAME = 'counters';

/**
 * A master, its replica and three sentinels that notice a dead master after 0.5 s. `args` go to
 * master and replica.
 */
export async function startSentinels(args: readonly string[] = []): Promise<RedisSentinels> {
  const master = await startRedis({ args: ['--repl-diskless-sync-delay', '0', ...args] });
  const replica = await startRedis({
    args: ['--replicaof', '127.0.0.1', `${master.port}`, ...args],
  });
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(master.port)));
  const all = [...sentinels, replica, master];
  return {
    master,
    replica,
    sentinels,
    masterName: MASTER_NAME,
    addresses: sentinels.map(({ address }) => address).join(),
    remove: async () => void (await Promise.all(all.map(server => server.remove()))),
  };
}

function startSentinel(masterPort: number): Promise<RedisServer> {
  return startRedis(async home => {
    const file = join(home, 'sentinel.conf');
    await writeFile(
      file,
      [
        `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${masterPort} 2`,
        `sentinel down-after-milliseconds ${MASTER_NAME} 500`,
        `sentinel failover-timeout ${MASTER_NAME} 3000`,
      ].join('\n'),
    );
    return { configFile: file, args: ['--sentinel'] };
  });
}
