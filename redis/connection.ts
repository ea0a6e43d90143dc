import type { ConnectionOptions } from 'node:tls';
import { createClient, ErrorReply } from '@redis/client';
import { sharedLookup } from '#process/shared-lookup.ts';
import type { Address, RedisTls } from './description.ts';
import { RedisUnavailable } from './redis-unavailable.ts';
import { boundReplies } from './reply-bounds.ts';

boundReplies();

export type Reply = string | number | null | readonly Reply[];

/** What a connection is opened with. */
export type Access = {
  readonly username?: string;
  readonly password?: string;
  readonly database: number;
  readonly tls?: RedisTls & Pick<ConnectionOptions, 'checkServerIdentity'>;
};

export type ConnectionLimits = {
  /** Nothing more is sent while a command waits for longer than this, in ms. */
  readonly timeoutMs: number;
  /** Commands that may wait for their answer. */
  readonly maxWaiting: number;
  readonly now: () => number;
};

/**
 * Time for TCP, TLS, AUTH and SELECT together. It is counted in parts, between which answers are
 * read. The time while this process was busy itself counts as one part.
 */
const OPEN_MS = 1000;
const OPEN_PARTS = 4;
/** When the library gives up by itself. Nothing else would end a socket that is being opened. */
const LIBRARY_OPEN_MS = 5 * OPEN_MS;

/** What of our commands a replica answers, too. */
const READS = new Set(['GET', 'GETRANGE', 'INFO', 'PTTL', 'ZRANGE', 'ZREVRANGE']);

type Client = ReturnType<typeof createLibraryClient>;

/**
 * One connection to one server. It sends or rejects at once, and queues nothing for later. A server
 * that hangs gets nothing more once a command has waited for `timeoutMs`. So it does not run stale
 * commands when it goes on.
 */
export class Connection {
  readonly #client: Client;
  readonly #limits: ConnectionLimits;
  /** When the commands that wait were sent. Answers come in the same order. */
  readonly #sent: number[] = [];
  #answers = 0;
  #served = 0;
  #lost = false;
  readonly #onLost: (cause: unknown) => void;

  private constructor(client: Client, limits: ConnectionLimits, onLost: (cause: unknown) => void) {
    this.#client = client;
    this.#limits = limits;
    this.#onLost = onLost;
    client.on('error', error => this.drop(error));
  }

  /**
   * Opens a connection that is ready to use. `onLost` is called once when it ends. Rejects with the
   * library's or the server's error.
   */
  static async open(
    address: Address,
    access: Access,
    limits: ConnectionLimits,
    onLost: (cause: unknown) => void,
    aborted: AbortSignal,
  ): Promise<Connection> {
    const client = createLibraryClient(address, access);
    await connectInTime(client, aborted);
    if (!client.isReady) throw new RedisUnavailable('the connection was closed');
    return new Connection(client, limits, onLost);
  }

  get waiting(): number {
    return this.#sent.length;
  }

  /** Answers so far. */
  get answers(): number {
    return this.#answers;
  }

  /** Commands that were done and that no replica does. Pings do not count. */
  get served(): number {
    return this.#served;
  }

  /** How long the oldest command waits, in ms. */
  silentMs(): number {
    const [oldest] = this.#sent;
    return oldest === undefined ? 0 : this.#limits.now() - oldest;
  }

  /**
   * Rejects with RedisUnavailable when it is not sent, else with what the server or the library
   * says.
   */
  send(args: readonly string[]): Promise<Reply> {
    const refusal = this.#refusal();
    if (refusal !== undefined)
      return Promise.reject(new RedisUnavailable(refusal, { notSent: true }));
    const [name = ''] = args;
    return this.#send(args, READS.has(name) ? this.#answered : this.#done);
  }

  /** Asks the server for a sign of life. */
  ping(): void {
    if (this.#refusal() === undefined) this.#send(['PING'], this.#answered).catch(() => {});
  }

  /** Ends the connection and all that waits. */
  drop(cause: unknown): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#client.destroy();
    this.#onLost(cause);
  }

  #send(args: readonly string[], done: () => void): Promise<Reply> {
    this.#sent.push(this.#limits.now());
    const reply = this.#client.sendCommand<Reply>(args);
    reply.then(done, this.#answered);
    return reply;
  }

  readonly #done = (): void => {
    this.#served += 1;
    this.#answered();
  };

  readonly #answered = (): void => {
    this.#sent.shift();
    this.#answers += 1;
  };

  #refusal(): string | undefined {
    if (this.#lost || !this.#client.isReady) return 'Redis: not connected';
    if (this.#sent.length >= this.#limits.maxWaiting) return 'Redis: too many commands wait';
    return this.silentMs() > this.#limits.timeoutMs ? 'Redis: does not answer' : undefined;
  }
}

function createLibraryClient(
  { host, port }: Address,
  { database, password, tls, username }: Access,
) {
  const socket = {
    host,
    port,
    connectTimeout: LIBRARY_OPEN_MS,
    reconnectStrategy: false as const,
    keepAliveInitialDelay: 5000,
    // An attempt ends long before the system gives up a name, and the next one comes.
    lookup: sharedLookup,
  };
  return createClient({
    RESP: 2, // HELLO needs Redis 6, and pushes are not used
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    database,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    // the default makes an AbortSignal with its own timer for each command
    commandOptions: { timeout: 0 },
    socket: tls === undefined ? socket : { ...socket, ...tls, tls: true },
  });
}

/**
 * A server that hangs still accepts connections. One that wants a password or is loading says so
 * only to a command.
 */
async function answers(client: Client): Promise<void> {
  try {
    await client.sendCommand(['PING']);
  } catch (error) {
    if (!(error instanceof ErrorReply && error.message.startsWith('NOPERM'))) throw error;
  }
}

async function connectInTime(client: Client, aborted: AbortSignal): Promise<void> {
  const connected = client.connect().then(() => answers(client));
  const giveUp = Promise.withResolvers<never>();
  const stop = (reason: string) => giveUp.reject(new RedisUnavailable(reason));
  const close = () => stop('closed by this process');
  // Most are also the rejection of connect(), but not a reply that cannot be read.
  client.on('error', giveUp.reject);
  let parts = 0;
  const timer = setInterval(() => {
    parts += 1;
    if (parts === OPEN_PARTS) stop('no answer to the connection');
  }, OPEN_MS / OPEN_PARTS);
  aborted.addEventListener('abort', close, { once: true });
  try {
    await Promise.race([connected, giveUp.promise]);
    if (aborted.aborted) throw new RedisUnavailable('closed by this process');
  } catch (error) {
    client.destroy();
    // It may still connect, because destroy() does not reach a socket that is being opened.
    connected.then(
      () => client.destroy(),
      () => client.destroy(),
    );
    throw error;
  } finally {
    clearInterval(timer);
    aborted.removeEventListener('abort', close);
  }
}
