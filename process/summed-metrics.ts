import { AggregatorRegistry } from 'prom-client';

/** What `Registry.getMetricsAsJSON` returns. */
export type MetricValues = readonly { readonly type?: unknown }[];

/** The types that only grow. */
const LASTING: readonly unknown[] = ['counter', 'histogram'];

/**
 * Sums the metrics of several workers into those of one process, by each metric's `aggregator`.
 * Counters of workers that have ended stay in the sum with their last values. A sum that fell would
 * look like a restart of all.
 */
export class SummedMetrics {
  readonly #heard = new Map<number, MetricValues>();
  #ended: Promise<MetricValues> = Promise.resolve([]);

  /** Replaces the values of a worker. */
  hear(worker: number, values: MetricValues): void {
    this.#heard.set(worker, values);
  }

  /** Records that the worker's process has ended. The next one begins at zero. */
  end(worker: number): void {
    const last = (this.#heard.get(worker) ?? []).filter(({ type }) => LASTING.includes(type));
    this.#heard.delete(worker);
    if (last.length > 0)
      this.#ended = this.#ended.then(ended => sum([ended, last]).getMetricsAsJSON());
  }

  /** Returns the metrics in Prometheus' text format. */
  async text(): Promise<string> {
    return sum([await this.#ended, ...this.#heard.values()]).metrics();
  }
}

function sum(values: MetricValues[]) {
  return AggregatorRegistry.aggregate(values);
}
