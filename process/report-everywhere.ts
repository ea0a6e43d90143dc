import { lookup } from 'node:dns/promises';
import type { Logger } from 'pino';
import { formatHostPort, type HostPort } from '#grpc/host-port.ts';
import type { Any } from '#protos/encode.ts';
import { type Connection, type ConnectOptions, connect } from '#xds/client.ts';
import type { Update } from '#xds/client-subscription.ts';
import type { Turned } from './followed.ts';

export type ReportEverywhereOptions = Pick<
  ConnectOptions,
  'credentials' | 'node' | 'random' | 'after'
> & {
  /** The connection to the control plane that is followed. */
  readonly followed: Pick<Connection, 'report'>;
  /** Where all control planes are. A name stands for one at each of its addresses. */
  readonly servers: readonly HostPort[];
  /** Hears what `servers` send. */
  readonly follows?: FollowsAll | undefined;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /**
   * Looks up the addresses of a name, by default as the system does. Rejects when they are unknown.
   */
  readonly addressesOf?: (host: string) => Promise<readonly string[]>;
};

/** Hears several control planes. Each connection to one has an object of its own. */
export type FollowsAll = {
  readonly typeUrls: readonly string[];
  update(update: Update, from: object): void;
  readonly turned: Turned;
};

/**
 * Names are looked up again after so long, in ms, while there is something to tell. A control plane
 * that was added in the meantime then hears it.
 */
const AGAIN_MS = 5_000;
/** The limit for all names together. Further control planes are not told. */
const MOST_STREAMS = 32;

/**
 * Tells every control plane. One is followed. Those of `servers` have streams that only report, and
 * are open while there is something to tell. With `follows` they are followed as well, all the
 * time. While a name cannot be looked up, its last addresses count. A control plane that hears the
 * same twice says it once.
 */
export class ReportEverywhere {
  readonly #options: ReportEverywhereOptions;
  readonly #streams = new Map<string, Connection>();
  /** The last addresses of each host. */
  readonly #addresses = new Map<string, readonly string[]>();
  readonly #unknown = new Set<string>();
  #report: Any | undefined;
  /** Aborts when there is nothing to tell any more. */
  #telling: AbortController | undefined;
  #cancelTimer = () => {};

  constructor(options: ReportEverywhereOptions) {
    this.#options = options;
    if (options.follows !== undefined) this.#begin();
  }

  /**
   * Replaces what was told before. Undefined means that nothing is wrong. The one that is followed
   * is told `answered`.
   */
  send(report: Any | undefined, answered = report): void {
    this.#options.followed.report(answered);
    this.#report = report;
    if (report === undefined && this.#options.follows === undefined) {
      this.close();
      return;
    }
    for (const stream of this.#streams.values()) stream.report(report);
    this.#begin();
  }

  #begin(): void {
    if (this.#telling !== undefined || this.#options.servers.length === 0) return;
    this.#telling = new AbortController();
    void this.#find(this.#telling.signal);
  }

  /** Withdraws what `servers` were told. */
  close(): void {
    this.#telling?.abort();
    this.#telling = undefined;
    this.#cancelTimer();
    this.#keep([]);
  }

  async #find(over: AbortSignal): Promise<void> {
    const found = await Promise.all(this.#options.servers.map(server => this.#addressesOf(server)));
    if (over.aborted) return;
    // Name servers give them in another order each time.
    this.#keep([...new Set(found.flat())].sort().slice(0, MOST_STREAMS));
    this.#cancelTimer = this.#options.after(AGAIN_MS, () => void this.#find(over));
  }

  /** Returns each as `address:port`. */
  async #addressesOf({ host, port }: HostPort): Promise<readonly string[]> {
    const { addressesOf = systemAddressesOf, log } = this.#options;
    try {
      this.#addresses.set(host, await addressesOf(host));
      this.#unknown.delete(host);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!this.#unknown.has(host))
        log.warn({ host, reason }, 'cannot look up a name of REPORT_ADDRESSES');
      this.#unknown.add(host);
    }
    return (this.#addresses.get(host) ?? []).map(address =>
      formatHostPort({ host: address, port }),
    );
  }

  /** Keeps streams to these addresses only. */
  #keep(addresses: readonly string[]): void {
    for (const [address, stream] of this.#streams) {
      if (addresses.includes(address)) continue;
      this.#streams.delete(address);
      stream.close();
    }
    for (const address of addresses) {
      if (!this.#streams.has(address)) this.#streams.set(address, this.#open(address));
    }
  }

  #open(address: string): Connection {
    const { credentials, node, random, after, log, follows } = this.#options;
    const from = {};
    const stream = connect({
      address,
      credentials,
      node,
      typeUrls: follows?.typeUrls ?? [],
      onUpdate: update => follows?.update(update, from),
      onDisconnect: reason => {
        log.warn({ controlPlane: address, reason }, 'a control plane hears no reports');
        follows?.turned(from, 'away');
      },
      onReconnect: () => {
        log.info({ controlPlane: address }, 'a control plane hears reports again');
        follows?.turned(from, 'here');
      },
      random,
      after,
    });
    if (this.#report !== undefined) stream.report(this.#report);
    const close = () => {
      stream.close();
      follows?.turned(from, 'gone');
    };
    return { report: report => stream.report(report), close };
  }
}

async function systemAddressesOf(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
