import type { Rates, Series } from './figures.ts';
import { LATENCY_BUCKETS, quantile } from './latency.ts';
import { Ring, type RingTime } from './ring.ts';

const MINUTE = 60_000;
/** For this time, in ms, figures are kept. */
export const KEPT_MS = 15 * MINUTE;

export const REQUESTS = 0;
export const CLIENT_ERRORS = 1;
export const SERVER_ERRORS = 2;
export type TrafficColumn = typeof REQUESTS | typeof CLIENT_ERRORS | typeof SERVER_ERRORS;

/**
 * Returns the column that counts answers of this HTTP status, beside that of all requests. From 600
 * on Envoy counts no error of a node group either.
 */
export function errorColumn(status: number): TrafficColumn | undefined {
  if (status < 400 || status >= 600) return undefined;
  return status < 500 ? CLIENT_ERRORS : SERVER_ERRORS;
}

type Resolution = { readonly counts: RingTime; readonly latencies: RingTime };

const ringTime = (stepMs: number): RingTime => ({ stepMs, steps: KEPT_MS / stepMs });

/** There are few groups, and people look at them first. */
export const OF_GROUP: Resolution = { counts: ringTime(5_000), latencies: ringTime(5_000) };
/** 4 KB for each of 10,000 Mappings. */
export const OF_MAPPING: Resolution = { counts: ringTime(10_000), latencies: ringTime(30_000) };

/** The requests of a node group or of a Mapping in the last 15 minutes. */
export class Traffic {
  readonly #counts: Ring;
  readonly #latencies: Ring;
  /** Grows with each change. */
  #changes = 0;
  /** The rates that were told last, by their time, and when they were true. */
  readonly #told = new Map<number, { step: number; changes: number; rates: Rates }>();

  constructor({ counts, latencies }: Resolution) {
    this.#counts = new Ring(3, counts);
    this.#latencies = new Ring(LATENCY_BUCKETS, latencies);
  }

  count(column: TrafficColumn, value: number, from: number, to: number): void {
    this.#changes += 1;
    this.#counts.add(column, value, from, to);
  }

  /** Takes requests of one bucket of latency. */
  latency(bucket: number, value: number, from: number, to: number): void {
    this.#changes += 1;
    this.#latencies.add(bucket, value, from, to);
  }

  isNewerThan(ms: number): boolean {
    return this.#counts.isNewerThan(ms);
  }

  /**
   * Returns the figures of the last `ms`, and of the step that has begun. `since` is the first
   * push. Of thousands of Mappings most have not changed since they were asked before.
   */
  rates(ms: number, now: number, since: number): Rates {
    const step = this.#counts.stepAt(now);
    const told = this.#told.get(ms);
    if (told?.step === step && told.changes === this.#changes) return told.rates;
    const rates = this.#rates(ms, now, since);
    this.#told.set(ms, { step, changes: this.#changes, rates });
    return rates;
  }

  #rates(ms: number, now: number, since: number): Rates {
    const { stepMs } = this.#counts.time;
    const last = this.#counts.stepAt(now);
    const first = last - Math.floor(ms / stepMs) + (ms === KEPT_MS ? 1 : 0);
    const seconds = Math.max(now - Math.max(first * stepMs, since), 1_000) / 1_000;
    const sum = (column: TrafficColumn) => Math.round(this.#counts.sum(column, first, last));
    const latencies = this.#latenciesIn(first * stepMs, now);
    const requests = sum(REQUESTS);
    return {
      rate: Math.round((requests / seconds) * 1_000) / 1_000,
      requests,
      clientErrors: sum(CLIENT_ERRORS),
      serverErrors: sum(SERVER_ERRORS),
      p50: quantile(latencies, 0.5),
      p99: quantile(latencies, 0.99),
    };
  }

  /** Returns what came in a second lately: in the step that has begun, and in the one before. */
  newest(column: TrafficColumn, now: number): number {
    const last = this.#counts.stepAt(now);
    const seconds = (now - (last - 1) * this.#counts.time.stepMs) / 1_000;
    return this.#counts.sum(column, last - 1, last) / seconds;
  }

  /** Returns the whole steps since the first push. The newest may still miss a push. */
  series(now: number, since: number): Series {
    const { stepMs, steps } = this.#counts.time;
    const end = this.#counts.stepAt(now);
    const first = Math.max(end - steps + 1, this.#counts.stepAt(since));
    const each = Array.from({ length: Math.max(end - first, 0) }, (_, index) => first + index);
    const column = (index: TrafficColumn) =>
      each.map(step => Math.round(this.#counts.sum(index, step) * 100) / 100);
    const latencies = each.map(step => this.#latenciesIn(step * stepMs, (step + 1) * stepMs - 1));
    return {
      start: first * stepMs,
      stepMs,
      requests: column(REQUESTS),
      clientErrors: column(CLIENT_ERRORS),
      serverErrors: column(SERVER_ERRORS),
      p50: latencies.map(counts => quantile(counts, 0.5)),
      p99: latencies.map(counts => quantile(counts, 0.99)),
    };
  }

  #latenciesIn(from: number, to: number): readonly number[] {
    const first = this.#latencies.stepAt(from);
    const last = this.#latencies.stepAt(to);
    return Array.from({ length: LATENCY_BUCKETS }, (_, bucket) =>
      this.#latencies.sum(bucket, first, last),
    );
  }
}
