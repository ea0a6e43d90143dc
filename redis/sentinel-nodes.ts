import { setTimeout as pause } from 'node:timers/promises';
import type { Reply } from './connection.ts';
import { Deadlines } from './deadlines.ts';
import type { Address } from './description.ts';
import { Link, type LinkOptions, textOf } from './link.ts';
import { type Nodes, oneNode } from './nodes.ts';
import { RedisUnavailable } from './redis-unavailable.ts';

const ASK_MS = 300;
const WATCH_MS = 1000;

/**
 * Follows the master that the sentinels name. They are asked every second, and whenever the
 * connection is lost. Of different answers the one of the latest failover counts.
 * https://redis.io/docs/latest/develop/reference/sentinel-clients/
 */
export function sentinelNodes(
  sentinels: readonly Address[],
  sentinelOptions: LinkOptions,
  masterName: string,
  options: LinkOptions,
): Nodes {
  const links = sentinels.map(address => new Link(() => address, sentinelOptions));
  const asking = new Deadlines(ASK_MS, options.now);
  const findMaster = () => askForMaster(links, asking, masterName);
  const master = new Link(findMaster, options);
  const watch = setInterval(() => void follow(master, findMaster), WATCH_MS);
  return oneNode(master, () => {
    clearInterval(watch);
    asking.close();
    for (const link of [master, ...links]) link.close();
  });
}

async function follow(master: Link, findMaster: () => Promise<Address>): Promise<void> {
  const connectedTo = master.address;
  if (connectedTo === undefined) return;
  const named = await findMaster().catch(() => undefined);
  if (named === undefined || master.address !== connectedTo) return;
  if (textOf(named) !== textOf(connectedTo))
    master.drop(new RedisUnavailable('the master has moved'));
}

async function askForMaster(
  links: readonly Link[],
  asking: Deadlines,
  masterName: string,
): Promise<Address> {
  await Promise.race([
    ...links.map(link => link.opened()),
    pause(ASK_MS, undefined, { ref: false }),
  ]);
  const replies = await Promise.allSettled(
    links
      .filter(link => link.connected)
      .map(link => asking.race(link.send(['SENTINEL', 'MASTER', masterName]))),
  );
  if (replies.length === 0) throw new RedisUnavailable(`no sentinel is connected${whyNot(links)}`);
  const masters = replies.flatMap(reply =>
    reply.status === 'fulfilled' ? parseMaster(reply.value) : [],
  );
  const [latest] = masters.sort((a, b) => b.epoch - a.epoch);
  if (latest === undefined)
    throw new RedisUnavailable(`no sentinel knows the master "${masterName}"`);
  return latest.address;
}

function whyNot(links: readonly Link[]): string {
  const reason = links.map(link => link.reason).find(reason => reason !== undefined);
  return reason === undefined ? '' : `: ${reason}`;
}

/** Names and values alternate. */
function parseMaster(
  reply: Reply,
): readonly { readonly address: Address; readonly epoch: number }[] {
  if (!Array.isArray(reply)) return [];
  const read = (name: string) => {
    const index = reply.findIndex((item, at) => at % 2 === 0 && item === name);
    return index < 0 ? '' : String(reply[index + 1]);
  };
  const [host, port, epoch] = [read('ip'), Number(read('port')), Number(read('config-epoch'))];
  return host === '' || !(port > 0) ? [] : [{ address: { host, port }, epoch: epoch || 0 }];
}
