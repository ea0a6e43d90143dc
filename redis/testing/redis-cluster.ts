import { createClient } from '@redis/client';
import { freePort } from '#grpc/testing/free-port.ts';
import { SLOTS } from '../key-slot.ts';
import { type RedisServer, startRedis } from './redis-server.ts';
import { until } from './until.ts';

export type RedisCluster = {
  readonly masters: readonly RedisServer[];
  /** Of the masters, in their order. */
  readonly replicas: readonly RedisServer[];
  /** `host:port,host:port,…` of the masters. */
  readonly addresses: string;
  /** Adds a master that has no slot yet. */
  readonly addMaster: () => Promise<RedisServer>;
  readonly remove: () => Promise<void>;
};

type Admin = Awaited<ReturnType<typeof connectAdmin>>;

/**
 * Starts three masters, each with a third of the slots and a replica. A dead master is noticed
 * after a second.
 */
export async function startCluster(): Promise<RedisCluster> {
  const args = [
    '--cluster-enabled',
    'yes',
    '--cluster-node-timeout',
    '1000',
    '--repl-diskless-sync-delay',
    '0',
  ];
  const servers = await Promise.all(Array.from({ length: 6 }, () => startNode(args)));
  const admins = await Promise.all(servers.map(({ port }) => connectAdmin(port)));
  const [masters, replicas] = [servers.slice(0, 3), servers.slice(3)];
  await meet(admins, servers);
  await Promise.all(admins.slice(0, 3).map((admin, index) => admin.sendCommand(slotsOf(index))));
  await replicate(admins);
  await Promise.all(admins.map(admin => until('the cluster is whole', () => isWhole(admin))));
  for (const admin of admins) admin.destroy();
  return {
    masters,
    replicas,
    addresses: masters.map(({ address }) => address).join(),
    addMaster: async () => {
      const server = await startNode(args);
      servers.push(server);
      await join(server, servers);
      return server;
    },
    remove: async () => void (await Promise.all(servers.map(server => server.remove()))),
  };
}

type Node = RedisServer & { readonly busPort: number };

/** The default bus port, 10,000 above the other, may be none. */
async function startNode(args: readonly string[]): Promise<Node> {
  let busPort = 0;
  const server = await startRedis(async () => {
    busPort = await freePort();
    return { args: [...args, '--cluster-port', `${busPort}`] };
  });
  return { ...server, busPort };
}

async function connectAdmin(port: number) {
  const admin = createClient({ RESP: 2, socket: { host: '127.0.0.1', port } });
  return admin.on('error', () => {}).connect();
}

/**
 * All know all before anything else: gossip needs a while. Who knows another already takes no
 * epoch.
 */
async function meet(admins: readonly Admin[], servers: readonly Node[]): Promise<void> {
  for (const [index, admin] of admins.entries())
    await admin.sendCommand(['CLUSTER', 'SET-CONFIG-EPOCH', `${index + 1}`]);
  for (const [index, admin] of admins.entries()) {
    for (const { busPort, port } of servers.slice(index + 1))
      await admin.sendCommand(['CLUSTER', 'MEET', '127.0.0.1', `${port}`, `${busPort}`]);
  }
  await Promise.all(
    admins.map(admin =>
      until('all have met', async () => (await nodesOf(admin)).length === servers.length),
    ),
  );
}

async function join(server: Node, servers: readonly Node[]): Promise<void> {
  const admins = await Promise.all(servers.map(({ port }) => connectAdmin(port)));
  const { busPort, port } = server;
  await admins[0]?.sendCommand(['CLUSTER', 'MEET', '127.0.0.1', `${port}`, `${busPort}`]);
  const knowsAll = async (admin: Admin) =>
    (await nodesOf(admin)).length === servers.length &&
    (await admin.sendCommand<string>(['CLUSTER', 'INFO'])).includes('cluster_state:ok');
  await Promise.all(admins.map(admin => until('all have met', () => knowsAll(admin))));
  for (const admin of admins) admin.destroy();
}

async function replicate(admins: readonly Admin[]): Promise<void> {
  for (const [index, admin] of admins.entries()) {
    if (index < 3) continue;
    const id = await admins[index - 3]?.sendCommand<string>(['CLUSTER', 'MYID']);
    await until('it is a replica', () =>
      admin.sendCommand(['CLUSTER', 'REPLICATE', `${id}`]).then(
        () => true,
        () => false, // it does not know yet that the other is a master
      ),
    );
  }
}

function slotsOf(index: number): string[] {
  const third = Math.ceil(SLOTS / 3);
  return [
    'CLUSTER',
    'ADDSLOTSRANGE',
    `${third * index}`,
    `${Math.min(third * (index + 1), SLOTS) - 1}`,
  ];
}

async function nodesOf(admin: Admin): Promise<readonly string[]> {
  const text = await admin.sendCommand<string>(['CLUSTER', 'NODES']);
  return text.split('\n').filter(line => line !== '' && !/handshake|noaddr/.test(line));
}

async function isWhole(admin: Admin): Promise<boolean> {
  const info = await admin.sendCommand<string>(['CLUSTER', 'INFO']);
  const replication = await admin.sendCommand<string>(['INFO', 'replication']);
  const slaves = (await nodesOf(admin)).filter(line => line.includes('slave'));
  const linked = /role:master|master_link_status:up/.test(replication);
  return info.includes('cluster_state:ok') && slaves.length === 3 && linked;
}
