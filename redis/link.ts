import { backOff } from './back-off.ts';
import { type Access, Connection, type Reply } from './connection.ts';
import type { Address } from './description.ts';
import { describeFailure, RedisUnavailable } from './redis-unavailable.ts';

/**
 * A change of a link's state, for the log. There is one when it is up, and one for each new reason
 * why it is not.
 */
export type LinkEvent =
  | { readonly connected: true; readonly address: string }
  | { readonly connected: false; readonly address: string; readonly reason: string };

export type LinkOptions = {
  /** Returns what the next connection is opened with. */
  readonly access: () => Access;
  /** See ConnectionLimits. */
  readonly timeoutMs: number;
  readonly maxWaiting: number;
  /** Returns milliseconds that never go back. */
  readonly now: () => number;
  /** Returns a number in [0, 1), for the jitter of the back-off. */
  readonly random: () => number;
  readonly onEvent: (event: LinkEvent) => void;
};

const WATCH_MS = 250;
const SILENT_MS = 1000;

/**
 * Holds a connection to one server, and connects again after 50 to 1,000 ms, until `close`.
 * `address` is asked before each attempt, since a name may point elsewhere and a master may have
 * moved. A server that is silent for a second is connected again, whether commands wait or not.
 */
export class Link {
  readonly #address: () => Address | Promise<Address>;
  readonly #options: LinkOptions;
  readonly #closed = new AbortController();
  readonly #watch: NodeJS.Timeout;
  #connection: Connection | undefined;
  #connectedTo: Address | undefined;
  #opened = Promise.withResolvers<void>();
  #reason: string | undefined;
  /**
   * What the log was told last. It is the reason why it is not connected, and undefined when it is.
   */
  #told: string | undefined;
  /** The server that accepts connections, but is a replica. */
  #demoted: string | undefined;
  #failures = 0;
  #retry: NodeJS.Timeout | undefined;
  #answersSeen = 0;
  #openedAt = 0;

  constructor(address: () => Address | Promise<Address>, options: LinkOptions) {
    this.#address = address;
    this.#options = options;
    // Answers that came while this process was busy are read first. Timers run before sockets, and
    // those before immediates.
    this.#watch = setInterval(() => setImmediate(() => this.#look()), WATCH_MS);
    void this.#open();
  }

  get connected(): boolean {
    return this.#connection !== undefined;
  }

  /** The server that it is connected to. */
  get address(): Address | undefined {
    return this.#connection && this.#connectedTo;
  }

  /** Why it is not connected. */
  get reason(): string | undefined {
    return this.#connection === undefined ? this.#reason : undefined;
  }

  /** Whether its first attempt is under way. */
  get isNew(): boolean {
    return !this.connected && this.reason === undefined;
  }

  get waiting(): number {
    return this.#connection?.waiting ?? 0;
  }

  /** Resolves when it is connected, at once if it is. */
  opened(): Promise<void> {
    return this.#opened.promise;
  }

  /**
   * Sends at once. Rejects with RedisUnavailable at once when it cannot, and with an ErrorReply
   * when the server refuses.
   */
  send(args: readonly string[]): Promise<Reply> {
    return this.#connection?.send(args) ?? Promise.reject(this.#down());
  }

  /** Connects again. */
  drop(cause: unknown): void {
    this.#connection?.drop(cause);
  }

  /**
   * Connects again, because the server has become a replica. If the address still leads to it, it
   * counts as connected only after a write has succeeded. Others read there, so it is then left
   * once a second and not for each write.
   */
  dropDemoted(cause: unknown): void {
    const name = this.address && textOf(this.address);
    if (name === this.#demoted && this.#options.now() - this.#openedAt < SILENT_MS) return;
    this.drop(cause);
    this.#demoted = name;
  }

  close(): void {
    clearInterval(this.#watch);
    clearTimeout(this.#retry);
    this.#closed.abort();
    this.drop(new RedisUnavailable('closed by this process'));
  }

  #down(): RedisUnavailable {
    const because = this.#reason === undefined ? '' : `: ${this.#reason}`;
    return new RedisUnavailable(`Redis: not connected${because}`, { notSent: true });
  }

  async #open(): Promise<void> {
    let address: Address | undefined;
    try {
      address = await this.#address();
      this.#closed.signal.throwIfAborted();
      const { access, maxWaiting, now, timeoutMs } = this.#options;
      const limits = { maxWaiting, now, timeoutMs };
      const connection = await Connection.open(
        address,
        access(),
        limits,
        cause => this.#lost(address, cause),
        this.#closed.signal,
      );
      this.#up(address, connection);
    } catch (error) {
      this.#lost(address, error);
    }
  }

  #up(address: Address, connection: Connection): void {
    this.#connection = connection;
    this.#connectedTo = address;
    this.#reason = undefined;
    this.#answersSeen = 0;
    this.#openedAt = this.#options.now();
    if (textOf(address) !== this.#demoted) this.#tellConnected(textOf(address));
    this.#opened.resolve();
  }

  #lost(address: Address | undefined, cause: unknown): void {
    if (this.#connection !== undefined) {
      this.#opened = Promise.withResolvers();
      // A server that accepts connections and drops each is tried again only after a pause.
      this.#failures = this.#connection.answers > 0 ? 0 : this.#failures;
    }
    this.#connection = undefined;
    this.#demoted = undefined;
    if (this.#closed.signal.aborted) return;
    this.#tell(address, describeFailure(cause));
    this.#retry = setTimeout(
      () => void this.#open(),
      backOff(this.#failures, this.#options.random()),
    );
    this.#failures += 1;
  }

  #tellConnected(address: string): void {
    this.#demoted = undefined;
    this.#told = undefined;
    this.#options.onEvent({ connected: true, address });
  }

  #tell(address: Address | undefined, reason: string): void {
    this.#reason = reason;
    if (reason === this.#told) return;
    this.#told = reason;
    this.#options.onEvent({
      connected: false,
      address: address === undefined ? 'unknown' : textOf(address),
      reason,
    });
  }

  /** Finds silently dead connections. An idle one is pinged, and a silent one dropped. */
  #look(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    if (this.#demoted !== undefined && connection.served > 0) this.#tellConnected(this.#demoted);
    if (connection.silentMs() > SILENT_MS)
      connection.drop(new RedisUnavailable('no answer for a second'));
    else if (connection.waiting === 0 && connection.answers === this.#answersSeen)
      connection.ping();
    this.#answersSeen = connection.answers;
  }
}

export function textOf({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
