/** What a generator of load has seen. */
export type Load = {
  readonly requests: number;
  readonly perSecond: number;
  /** Times in ms. */
  readonly p50: number;
  readonly p99: number;
  /** Answers other than what was wanted, and errors of sockets. */
  readonly failed: number;
};
