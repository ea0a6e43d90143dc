/** Upper ends of the buckets in which Envoys count the time of requests, in ms. */
export const LATENCY_BOUNDS: readonly number[] = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000,
  5_000, 10_000, 30_000, 60_000,
];
