/** The results of a load generator. */
export type Load = {
  readonly requests: number;
  readonly perSecond: number;
  /** Times in ms. */
  readonly p50: number;
  readonly p99: number;
  /** Answers other than the expected ones, and errors of sockets. */
  readonly failed: number;
};
