import type { After } from '#process/after.ts';

/** Time and chance, as main gives them. */
export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Returns a number in [0, 1). */
  random(): number;
  readonly after: After;
};
