import { quantile } from '../quantile.ts';
import type { ByProcess, Round } from './measure.ts';

/** The results of several rounds: medians, and means of the processes' usage. */
export type Measured = {
  readonly perSecond: number;
  /** Times in ms. */
  readonly p50: number;
  readonly p99: number;
  /** CPU time per request, in µs. */
  readonly cpu: ByProcess;
  /** How much of a core each used. */
  readonly busy: ByProcess;
  /** The share of all cores' time in which they were idle, 0 to 1. */
  readonly idle: number;
};

export function measuredIn(rounds: readonly Round[]): Measured {
  const median = (of: (round: Round) => number) => quantile(rounds.map(of), 0.5);
  const sum = (of: (round: Round) => number) =>
    rounds.reduce((total, round) => total + of(round), 0);
  const cpu = (factor: number): ByProcess => ({
    service: factor * sum(({ cpu }) => cpu.service),
    store: factor * sum(({ cpu }) => cpu.store),
    envoy: factor * sum(({ cpu }) => cpu.envoy),
  });
  return {
    perSecond: median(({ perSecond }) => perSecond),
    p50: median(({ p50 }) => p50),
    p99: median(({ p99 }) => p99),
    cpu: cpu(1_000 / sum(({ requests }) => requests)),
    busy: cpu(1 / sum(({ took }) => took)),
    idle: median(({ idle }) => idle),
  };
}

/**
 * Returns the median part of another's throughput that was kept, round by round. Throws when their
 * numbers of rounds differ.
 */
export function shareOf(rounds: readonly Round[], others: readonly Round[]): number {
  if (rounds.length !== others.length)
    throw new Error(`${rounds.length} rounds cannot be compared to ${others.length}`);
  const shares = rounds.map(({ perSecond }, n) => perSecond / (others[n]?.perSecond ?? perSecond));
  return quantile(shares, 0.5);
}
