/** The limit that a counter counts for, in the operator's words. */
export type CounterOwner = {
  readonly limit: string;
  /** The id of its RateLimit. */
  readonly resource: string;
};

/** The owner of each counter. When several limits share a counter, it is the first. */
export type CounterOwners = ReadonlyMap<string, CounterOwner>;
