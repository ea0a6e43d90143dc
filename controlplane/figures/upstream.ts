import type { UpstreamCounts, UpstreamFailure } from './figures.ts';
import { Ring } from './ring.ts';
import type { MemberGauge } from './stat-name.ts';
import { KEPT_MS } from './traffic.ts';

const COLUMNS: readonly (keyof UpstreamCounts)[] = [
  'requests',
  'serverErrors',
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
];

const STEP_MS = 20_000;

/** When a proxy read its statistics, and the time that they are about. */
type ReadTime = { readonly moment: number; readonly from: number; readonly to: number };

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
   */
  count(proxy: object, column: keyof UpstreamCounts, value: number, read: ReadTime): void {
    const { from, moment, to } = read;
    const part = this.#partOf(this.#viewOf(proxy, to), moment);
    part.counts ??= new Map();
    const counted = part.counts.get(column)?.value ?? 0;
    part.counts.set(column, { value: counted + value, from, to });
  }

  /**
   * Takes a gauge of one proxy. Members are told with those that are healthy. One of the two alone
   * would look like a failure of all.
   */
  see(proxy: object, gauge: MemberGauge, value: number, { moment, to }: ReadTime): void {
    const view = this.#viewOf(proxy, to);
    view.isSeen = true;
    if (gauge === 'presence') {
      if (view.part?.moment === moment) this.#tell(view.part);
      return;
    }
    const part = this.#partOf(view, moment);
    this.#tell(part);
    part[gauge] = value;
    const { healthy, members } = part;
    if (healthy === undefined || members === undefined) return;
    Object.assign(view, { healthy, members, part: undefined });
  }

  #viewOf(proxy: object, at: number): View {
    const view = this.#views.get(proxy) ?? {
      ...{ at, members: 0, healthy: 0, isSeen: false, part: undefined },
    };
    view.at = at;
    this.#views.set(proxy, view);
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
    for (const [column, { from, to, value }] of part.counts ?? []) {
      this.#changes += 1;
      this.#counts ??= new Ring(COLUMNS.length, { stepMs: STEP_MS, steps: KEPT_MS / STEP_MS });
      this.#counts.add(COLUMNS.indexOf(column), value, from, to);
    }
    delete part.counts;
  }

  /** The number of proxies that have a part in it. */
  get size(): number {
    return this.#views.size;
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
      Math.round((this.#counts?.sum(index, first, last) ?? 0) * 100) / 100,
    ]);
    return Object.fromEntries(sums) as UpstreamCounts;
  }

  isEmpty(since: number): boolean {
    return this.#views.size === 0 && this.#counts?.isNewerThan(since) !== true;
  }
}
