import { AggregatorRegistry } from 'prom-client';

/** What `Registry.getMetricsAsJSON` gives. */
export type MetricValues = readonly { readonly type?: unknown }[];

/** What only grows. */
const LASTING: readonly unknown[] = ['counter', 'histogram'];

/**
 * One process's metrics out of those of several workers, by each metric's `aggregator`. Counters of
 * workers that have ended stay in the sum as they were heard last: a sum that fell would be taken
 * for a restart of all.
 */
export class SummedMetrics {
  readonly #heard = new Map<number, MetricValues>();
  #ended: Promise<MetricValues> = Promise.resolve([]);

  /** These are the worker's now. */
  hear(worker: number, values: MetricValues): void {
    this.#heard.set(worker, values);
  }

  /** The worker's process has ended; the next one begins at nothing. */
  end(worker: number): void {
    const last = (this.#heard.get(worker) ?? []).filter(({ type }) => LASTING.includes(type));
    this.#heard.delete(worker);
    if (last.length > 0)
      this.#ended = this.#ended.then(ended => sum([ended, last]).getMetricsAsJSON());
  }

  /** In Prometheus' text format. */
  async text(): Promise<string> {
    return sum([await this.#ended, ...this.#heard.values()]).metrics();
  }
}

function sum(values: MetricValues[]) {
  return AggregatorRegistry.aggregate(values);
}
