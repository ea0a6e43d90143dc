import { parseClusterSlots, parseRedirect } from './cluster-slots.ts';
import { Deadlines } from './deadlines.ts';
import type { Address } from './description.ts';
import { keySlot, SLOTS } from './key-slot.ts';
import { Link, type LinkOptions, textOf } from './link.ts';
import type { Nodes } from './nodes.ts';
import { describeFailure } from './redis-unavailable.ts';

const ASK_MS = 500;
const REFRESH_MS = { healthy: 5000, unhealthy: 200 };

/**
 * Follows the masters of a cluster, each with its slots. The slots are queried every 5 s, and at
 * once after a MOVED reply. While a slot has no connected master they are queried every 0.2 s.
 * https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#moved-redirection
 */
export function clusterNodes(seeds: readonly Address[], options: LinkOptions): Nodes {
  const map = new ClusterMap(seeds, options);
  return {
    linkOf: key => map.linkOf(keySlot(key)),
    redirected: reply => map.redirected(reply),
    connected: () => map.missing() === undefined,
    reason: () => map.missing(),
    waiting: () => map.links().reduce((sum, link) => sum + link.waiting, 0),
    close: () => map.close(),
  };
}

class ClusterMap {
  readonly #links = new Map<string, Link>();
  readonly #seeds: ReadonlySet<string>;
  readonly #options: LinkOptions;
  readonly #asking: Deadlines;
  /** The address of each slot's master. */
  #slots: (string | undefined)[] = new Array(SLOTS);
  #masters: ReadonlySet<string> = new Set();
  /** Nodes that a redirect has named since the last refresh. One of them may have no slot yet. */
  readonly #named = new Set<string>();
  #uncovered = SLOTS;
  /** Why the last queried node did not return the slots. */
  #trouble: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #refreshing = false;
  #closed = false;

  constructor(seeds: readonly Address[], options: LinkOptions) {
    this.#options = {
      ...options,
      onEvent: event => {
        options.onEvent(event);
        if (!event.connected) this.#schedule();
      },
    };
    this.#asking = new Deadlines(ASK_MS, options.now);
    this.#seeds = new Set(seeds.map(textOf));
    for (const seed of seeds) this.#linkTo(seed);
    void Promise.race(this.links().map(link => link.opened())).then(() => this.#refresh());
    this.#schedule();
  }

  links(): readonly Link[] {
    return [...this.#links.values()];
  }

  linkOf(slot: number): Link | undefined {
    const address = this.#slots[slot];
    return address === undefined ? undefined : this.#links.get(address);
  }

  redirected(reply: string): Link | undefined {
    const redirect = parseRedirect(reply);
    if (redirect === undefined || this.#closed) return undefined;
    const link = this.#linkTo(redirect.address);
    this.#named.add(textOf(redirect.address));
    if (redirect.kind === 'ASK') return link;
    this.#slots[redirect.slot] = textOf(redirect.address);
    void this.#refresh();
    return link;
  }

  /** @returns why some keys cannot be reached, or undefined when all can */
  missing(): string | undefined {
    if (this.#masters.size === 0)
      return (
        this.links().find(link => link.reason !== undefined)?.reason ??
        this.#trouble ??
        'connecting'
      );
    const down = [...this.#masters].find(address => this.#links.get(address)?.connected !== true);
    if (down !== undefined) return `${down}: ${this.#links.get(down)?.reason ?? 'connecting'}`;
    return this.#uncovered > 0 ? `${this.#uncovered} slots have no master` : undefined;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#asking.close();
    for (const link of this.#links.values()) link.close();
  }

  #linkTo(address: Address): Link {
    const name = textOf(address);
    const link = this.#links.get(name) ?? new Link(() => address, this.#options);
    this.#links.set(name, link);
    return link;
  }

  #schedule(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    const wait = this.missing() === undefined ? REFRESH_MS.healthy : REFRESH_MS.unhealthy;
    this.#timer = setTimeout(() => void this.#refresh(), wait);
  }

  /**
   * Asks the connected nodes one after the other, in random order, until one answers with slots.
   */
  async #refresh(): Promise<void> {
    if (this.#refreshing || this.#closed) return;
    this.#refreshing = true;
    const first = Math.floor(this.#options.random() * this.#links.size);
    const links = this.links();
    for (const link of [...links.slice(first), ...links.slice(0, first)])
      if (link.address !== undefined && (await this.#askFor(link, link.address))) break;
    this.#refreshing = false;
    this.#schedule();
  }

  async #askFor(link: Link, address: Address): Promise<boolean> {
    this.#trouble = undefined;
    const reply = await this.#asking
      .race(link.send(['CLUSTER', 'SLOTS']))
      .catch((error: unknown) => {
        this.#trouble = `${textOf(address)}: ${describeFailure(error)}`;
        return null;
      });
    const ranges = parseClusterSlots(reply, address.host);
    if (ranges.length === 0 || this.#closed) return false;
    const slots: (string | undefined)[] = new Array(SLOTS);
    for (const { from, master, to } of ranges) slots.fill(textOf(master), from, to + 1);
    this.#slots = slots;
    this.#uncovered = SLOTS - ranges.reduce((sum, { from, to }) => sum + to + 1 - from, 0);
    this.#masters = new Set(ranges.map(({ master }) => textOf(this.#keep(master))));
    this.#forgetOthers();
    return true;
  }

  #keep(master: Address): Address {
    this.#linkTo(master);
    return master;
  }

  #forgetOthers(): void {
    for (const [name, link] of this.#links) {
      if (this.#masters.has(name) || this.#seeds.has(name) || this.#named.has(name)) continue;
      link.close();
      this.#links.delete(name);
    }
    this.#named.clear();
  }
}
