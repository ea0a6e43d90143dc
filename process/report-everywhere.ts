import { lookup } from 'node:dns/promises';
import type { Logger } from 'pino';
import { formatHostPort, type HostPort } from '#grpc/host-port.ts';
import type { Any } from '#protos/encode.ts';
import { type Connection, type ConnectOptions, connect } from '#xds/client.ts';

export type ReportEverywhereOptions = Pick<
  ConnectOptions,
  'credentials' | 'node' | 'random' | 'after'
> & {
  /** The connection to the control plane that is followed. */
  readonly followed: Pick<Connection, 'report'>;
  /** Where all control planes are; a name is one at each of its addresses. */
  readonly servers: readonly HostPort[];
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /**
   * The addresses of a name, by default as the system finds them. Rejects when they are not known.
   */
  readonly addressesOf?: (host: string) => Promise<readonly string[]>;
};

/**
 * Names are looked up again after so long, in ms, while there is something to tell: who has come
 * since hears it.
 */
const AGAIN_MS = 5_000;
/** Of all names together: others are not told. */
const MOST_STREAMS = 32;

/**
 * Tells every control plane: the one that is followed, and all of `servers` by streams that only
 * report, and are open while there is something to tell. While a name cannot be looked up, its last
 * addresses count. A control plane that hears the same twice says it once.
 */
export class ReportEverywhere {
  readonly #options: ReportEverywhereOptions;
  readonly #streams = new Map<string, Connection>();
  /** By host: its last addresses. */
  readonly #addresses = new Map<string, readonly string[]>();
  readonly #unknown = new Set<string>();
  #report: Any | undefined;
  /** Ends when there is nothing to tell any more. */
  #telling: AbortController | undefined;
  #cancelTimer = () => {};

  constructor(options: ReportEverywhereOptions) {
    this.#options = options;
  }

  /** In place of what was told before; undefined: nothing is wrong. */
  send(report: Any | undefined): void {
    this.#options.followed.report(report);
    if (report === undefined) {
      this.close();
      return;
    }
    this.#report = report;
    for (const stream of this.#streams.values()) stream.report(report);
    if (this.#telling !== undefined || this.#options.servers.length === 0) return;
    this.#telling = new AbortController();
    void this.#find(this.#telling.signal);
  }

  /** Takes back what `servers` were told. */
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

  /** Each as `address:port`. */
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

  /** Streams to these, and to no others. */
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
    const { credentials, node, random, after, log } = this.#options;
    const stream = connect({
      address,
      credentials,
      node,
      typeUrls: [],
      onUpdate: () => {},
      onDisconnect: reason =>
        log.warn({ controlPlane: address, reason }, 'a control plane hears no reports'),
      onReconnect: () => log.info({ controlPlane: address }, 'a control plane hears reports again'),
      random,
      after,
    });
    stream.report(this.#report);
    return stream;
  }
}

async function systemAddressesOf(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
