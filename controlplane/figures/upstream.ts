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

const NONE = Object.fromEntries(COLUMNS.map(column => [column, 0])) as UpstreamCounts;

/** What one proxy said of its members, and when. */
type View = { at: number; members: number; healthy: number };

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

  count(column: keyof UpstreamCounts, value: number, from: number, to: number): void {
    this.#changes += 1;
    this.#counts ??= new Ring(COLUMNS.length, { stepMs: STEP_MS, steps: KEPT_MS / STEP_MS });
    this.#counts.add(COLUMNS.indexOf(column), value, from, to);
  }

  /** Takes a gauge of one proxy. Returns whether the proxy is new here. */
  see(proxy: object, gauge: MemberGauge, value: number, at: number): boolean {
    const known = this.#views.get(proxy);
    const view = known ?? { at, members: 0, healthy: 0 };
    view.at = at;
    if (gauge !== 'presence') view[gauge] = value;
    if (known === undefined) this.#views.set(proxy, view);
    return known === undefined;
  }

  knows(proxy: object): boolean {
    return this.#views.has(proxy);
  }

  /** Returns the views of proxies that have spoken since. */
  views(since: number): readonly View[] {
    return [...this.#views.values()].filter(({ at }) => at >= since);
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
