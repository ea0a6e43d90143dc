import { ErrorReply } from '@redis/client';
import { clusterNodes } from './cluster-nodes.ts';
import type { Access, Reply } from './connection.ts';
import { Deadlines } from './deadlines.ts';
import type { RedisDescription } from './description.ts';
import { Link, type LinkEvent, type LinkOptions } from './link.ts';
import { type Nodes, oneNode } from './nodes.ts';
import { RedisUnavailable } from './redis-unavailable.ts';
import type { Script } from './script.ts';
import { sentinelNodes } from './sentinel-nodes.ts';
import { serverIdentity } from './server-identity.ts';

export type { Reply } from './connection.ts';
export type { LinkEvent } from './link.ts';

export type RedisOptions = {
  /** Every command is answered or rejected within this time. */
  readonly timeoutMs: number;
  /** Most commands that wait for an answer. Further ones are rejected at once. Default: 10,000. */
  readonly maxWaiting?: number;
  /** Returns a number in [0, 1), for the jitter of back-offs. */
  readonly random: () => number;
  /** Returns milliseconds that never go back, for timeouts. */
  readonly now: () => number;
  /**
   * Called when a server came or went, for the log. One call for each change of state, without
   * credentials.
   */
  readonly onEvent?: (event: LinkEvent) => void;
};

/** Redis as one server, as the master of some sentinels, or as a cluster. */
export type Redis = {
  /**
   * Whether all keys of one call must have one slot, as in a cluster. A server that has the slots
   * of one behind its address says so only to a call with several (CROSSSLOT), which it refuses.
   */
  readonly clustered: boolean;
  /**
   * Sends one command that has `key`. For a command without a key any text will do. A `MOVED` or
   * `ASK` of a cluster is followed. Rejects with RedisUnavailable within `timeoutMs`. It rejects at
   * once while the server is not connected or does not answer, and queues nothing.
   */
  readonly send: (key: string, args: readonly string[]) => Promise<Reply>;
  /**
   * Runs a script by its name on one or more `keys`. When Redis has forgotten it, the text is sent.
   * Rejects as `send`.
   */
  readonly run: (
    script: Script,
    keys: readonly string[],
    args: readonly string[],
  ) => Promise<Reply>;
  readonly status: () => RedisStatus;
  /** Rejects new commands, lets those that wait end (at most `timeoutMs`), and disconnects. */
  readonly close: () => Promise<void>;
};

export type RedisStatus = {
  /** Whether every key has a server that is connected. */
  readonly connected: boolean;
  /** Why it is not connected. */
  readonly reason?: string;
  /** Calls that wait for an answer. */
  readonly waiting: number;
};

const MAX_WAITING = 10_000;
const MAX_REDIRECTS = 3;

/**
 * Connects to Redis at once, and again after each loss, until `close`. It is usable immediately,
 * and rejects what cannot be sent. A failover of sentinels or of a cluster is followed.
 */
export function connectRedis(description: RedisDescription, options: RedisOptions): Redis {
  const nodes = openNodes(description, options);
  const calls = new Deadlines(options.timeoutMs, options.now);
  const maxWaiting = options.maxWaiting ?? MAX_WAITING;
  let clustered = description.topology.kind === 'cluster';
  let closed = false;
  const failed = (error: unknown): never => {
    clustered ||= isReply(error, 'CROSSSLOT');
    throw RedisUnavailable.from(error);
  };
  const guard = (work: (isLate: () => boolean) => Promise<Reply>): Promise<Reply> => {
    if (closed) return refuse('Redis: closed');
    if (calls.waiting >= maxWaiting) return refuse('Redis: too many commands wait');
    const due = options.now() + options.timeoutMs;
    return calls.race(work(() => options.now() >= due)).catch(failed);
  };
  return {
    get clustered() {
      return clustered;
    },
    send: (key, args) => guard(isLate => sendFollowing(nodes, key, args, isLate)),
    run: (script, keys, args) => guard(isLate => runScript(nodes, script, keys, args, isLate)),
    status: () => statusOf(nodes, calls.waiting),
    close: async () => {
      closed = true;
      await calls.drained();
      nodes.close();
      calls.close();
    },
  };
}

function statusOf(nodes: Nodes, waiting: number): RedisStatus {
  const reason = nodes.reason();
  return { connected: nodes.connected(), ...(reason !== undefined && { reason }), waiting };
}

function openNodes(description: RedisDescription, redisOptions: RedisOptions): Nodes {
  const { addresses, renewed = () => description, topology } = description;
  const options = linkOptions(() => accessTo(renewed()), redisOptions);
  switch (topology.kind) {
    case 'cluster':
      return clusterNodes(addresses, options);
    case 'sentinel': {
      const access = () => accessToSentinels(renewed());
      return sentinelNodes(addresses, { ...options, access }, topology.masterName, options);
    }
    case 'single': {
      const [address] = addresses;
      if (address === undefined) throw new TypeError('a description of Redis without address');
      const link = new Link(() => address, options);
      return oneNode(link, () => link.close());
    }
  }
}

function linkOptions(
  access: () => Access,
  { maxWaiting = MAX_WAITING, now, onEvent = () => {}, random, timeoutMs }: RedisOptions,
): LinkOptions {
  return { access, maxWaiting, now, onEvent, random, timeoutMs };
}

function accessTo(description: RedisDescription): Access {
  const { database, password, username } = description;
  return {
    database,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...tlsTo(description),
  };
}

function accessToSentinels(description: RedisDescription): Access {
  const { topology } = description;
  const password = topology.kind === 'sentinel' ? topology.password : undefined;
  return {
    database: 0,
    ...(password !== undefined && { password }),
    ...tlsTo(description),
  };
}

function tlsTo({ addresses, tls }: RedisDescription): Pick<Access, 'tls'> {
  if (tls === undefined) return {};
  return {
    tls: { ...tls, checkServerIdentity: serverIdentity(addresses.map(({ host }) => host)) },
  };
}

/**
 * Tries EVALSHA first, because nothing has run when the answer is NOSCRIPT.
 * https://redis.io/docs/latest/commands/evalsha/
 */
async function runScript(
  nodes: Nodes,
  { sha1, text }: Script,
  keys: readonly string[],
  args: readonly string[],
  isLate: () => boolean,
): Promise<Reply> {
  const [key = ''] = keys;
  const rest = [String(keys.length), ...keys, ...args];
  try {
    return await sendFollowing(nodes, key, ['EVALSHA', sha1, ...rest], isLate);
  } catch (error) {
    if (!isReply(error, 'NOSCRIPT')) throw error;
    return sendFollowing(nodes, key, ['EVAL', text, ...rest], isLate);
  }
}

/** `isLate` says whether the time of the call is over. Nothing more is sent then. */
async function sendFollowing(
  nodes: Nodes,
  key: string,
  args: readonly string[],
  isLate: () => boolean,
): Promise<Reply> {
  let link = nodes.linkOf(key);
  let asking = false;
  for (let redirects = 0; ; redirects += 1) {
    if (link === undefined) throw notConnected(nodes);
    try {
      return await sendTo(link, args, asking);
    } catch (error) {
      if (!(error instanceof ErrorReply) || redirects === MAX_REDIRECTS) throw error;
      // The server was demoted. For a single name and for sentinels a new connection finds its
      // successor.
      if (/^(READONLY|MASTERDOWN) /.test(error.message)) link.dropDemoted(error);
      const target = nodes.redirected(error.message);
      if (target === undefined) throw error;
      if (target.isNew) await target.opened();
      if (isLate()) throw error;
      asking = error.message.startsWith('ASK ');
      link = target;
    }
  }
}

/** Both in one turn, so that nothing comes between them. */
function sendTo(link: Link, args: readonly string[], asking: boolean): Promise<Reply> {
  if (asking) link.send(['ASKING']).catch(() => {});
  return link.send(args);
}

function notConnected(nodes: Nodes): RedisUnavailable {
  return new RedisUnavailable(
    `Redis: not connected: ${nodes.reason() ?? 'no server has this key'}`,
    {
      notSent: true,
    },
  );
}

function refuse(message: string): Promise<never> {
  return Promise.reject(new RedisUnavailable(message, { notSent: true }));
}

function isReply(error: unknown, word: string): boolean {
  return error instanceof ErrorReply && error.message.startsWith(word);
}
