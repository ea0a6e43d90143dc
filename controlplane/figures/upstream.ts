import type { UpstreamCounts, UpstreamFailure } from './figures.ts';
import { Ring } from './ring.ts';
import type { MemberGauge } from './stat-name.ts';
import { KEPT_MS } from './traffic.ts';

const COLUMNS: readonly (keyof UpstreamCounts)[] = [
  'requests',
  'answers',
  'serverErrors',
  'late',
  'timeouts',
  'connectFailures',
  'connectTimeouts',
  'tlsFailures',
  'noHealthy',
  'updateFailures',
  'updatesEmpty',
  'updates',
  'checks',
  'checkFailures',
  'ejections',
  'failedCalls',
];

const STEP_MS = 20_000;

/** Where a statistic is from. */
export type Read = {
  readonly proxy: object;
  /** When the proxy read it, by its own clock, in ms. */
  readonly moment: number;
  /** The time that it is about. */
  readonly push: { readonly from: number; readonly to: number };
};

const NONE = Object.fromEntries(COLUMNS.map(column => [column, 0])) as UpstreamCounts;

/** What one proxy said, and when. */
type View = {
  at: number;
  members: number;
  healthy: number;
  /** Whether it has said anything about members. */
  isSeen: boolean;
  /** The statistics of one moment that have arrived, until all of them have. */
  part: Part | undefined;
};

type Part = {
  /** When the proxy read its statistics. */
  readonly moment: number;
  counts?: Map<keyof UpstreamCounts, { value: number; from: number; to: number }>;
  members?: number;
  healthy?: number;
};

/** A cluster as the proxies of a group see it. */
export class Upstream {
  readonly group: string;
  readonly cluster: string;
  readonly #views = new Map<object, View>();
  #counts: Ring | undefined;
  /** Grows with each count. */
  #changes = 0;
  /** The counts that were told last, by their time, and when they were true. */
  readonly #told = new Map<number, { step: number; changes: number; counts: UpstreamCounts }>();
  lastFailure: UpstreamFailure | undefined;

  constructor(group: string, cluster: string) {
    this.group = group;
    this.cluster = cluster;
  }

  /**
   * Takes a count of one proxy. It is told when a gauge of the same moment has arrived, which Envoy
   * sends after all counts. Otherwise failures would be seen before the requests that failed.
   * Returns whether the proxy is new here.
   */
  count(read: Read, column: keyof UpstreamCounts, value: number): boolean {
    const { moment, proxy, push } = read;
    const isNew = !this.knows(proxy);
    const part = this.#partOf(this.#viewOf(read), moment);
    part.counts ??= new Map();
    const counted = part.counts.get(column)?.value ?? 0;
    part.counts.set(column, { value: counted + value, from: push.from, to: push.to });
    return isNew;
  }

  /**
   * Takes a gauge of one proxy. Members are told with those that are healthy. One of the two alone
   * would look like a failure of all. Returns whether the proxy is new here.
   */
  see(read: Read, gauge: MemberGauge, value: number): boolean {
    const isNew = !this.knows(read.proxy);
    const view = this.#viewOf(read);
    view.isSeen = true;
    if (gauge !== 'presence') this.#seeMembers(view, read.moment, gauge, value);
    else if (view.part?.moment === read.moment) this.#tell(view.part);
    return isNew;
  }

  #seeMembers(view: View, moment: number, gauge: 'members' | 'healthy', value: number): void {
    const part = this.#partOf(view, moment);
    this.#tell(part);
    part[gauge] = value;
    const { healthy, members } = part;
    if (healthy === undefined || members === undefined) return;
    Object.assign(view, { healthy, members, part: undefined });
  }

  #viewOf({ proxy, push: { to: at } }: Read): View {
    const known = this.#views.get(proxy);
    const view = known ?? { at, members: 0, healthy: 0, isSeen: false, part: undefined };
    view.at = at;
    if (known === undefined) this.#views.set(proxy, view);
    return view;
  }

  #partOf(view: View, moment: number): Part {
    if (view.part?.moment !== moment) {
      if (view.part !== undefined) this.#tell(view.part);
      view.part = { moment };
    }
    return view.part;
  }

  #tell(part: Part): void {
    for (const [column, { from, to, value }] of part.counts ?? [])
      this.add(column, value, from, to);
    delete part.counts;
  }

  /** Takes a count that no proxy counts, or corrects one that it does. */
  add(column: keyof UpstreamCounts, value: number, from: number, to: number): void {
    this.#changes += 1;
    this.#counts ??= new Ring(COLUMNS.length, { stepMs: STEP_MS, steps: KEPT_MS / STEP_MS });
    this.#counts.add(COLUMNS.indexOf(column), value, from, to);
  }

  knows(proxy: object): boolean {
    return this.#views.has(proxy);
  }

  /** Returns the views of proxies that have spoken since. */
  views(since: number): readonly View[] {
    return [...this.#views.values()].filter(({ at, isSeen }) => isSeen && at >= since);
  }

  /** Forgets proxies that have not spoken since. Returns how many. */
  forget(since: number): number {
    let gone = 0;
    for (const [proxy, { at }] of this.#views)
      if (at < since && this.#views.delete(proxy)) gone += 1;
    return gone;
  }

  /** Returns the counts of the last `ms`, and of the step that has begun. */
  counts(ms: number, now: number): UpstreamCounts {
    const step = Math.floor(now / STEP_MS);
    const told = this.#told.get(ms);
    if (told?.step === step && told.changes === this.#changes) return told.counts;
    const counts = this.#sums(step - ms / STEP_MS, step);
    this.#told.set(ms, { step, changes: this.#changes, counts });
    return counts;
  }

  #sums(first: number, last: number): UpstreamCounts {
    if (this.#counts === undefined) return NONE;
    const sums = COLUMNS.map((column, index) => [
      column,
      // A correction may come before the count that it is of.
      Math.max(Math.round((this.#counts?.sum(index, first, last) ?? 0) * 100) / 100, 0),
    ]);
    return Object.fromEntries(sums) as UpstreamCounts;
  }

  isEmpty(since: number): boolean {
    return this.#views.size === 0 && this.#counts?.isNewerThan(since) !== true;
  }
}
