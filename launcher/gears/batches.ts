/** A batch that has waited for so long goes with the next item, in ms. */
const LONGEST_MS = 100;

/** A batch of so many items goes at once. */
const MOST = 50;

export type Batches<T> = {
  /** Adds the item to the batch, which is sent when it is due or when the item is urgent. */
  add(item: T, urgent: boolean): void;
  /** Sends what waits. */
  flush(): void;
};

/**
 * Sends items together. Each message costs a system call here and a turn of the process that reads
 * it. No timer runs, so an item may wait for the next one or for `flush`.
 */
export function batches<T>(send: (items: readonly T[]) => void, now: () => number): Batches<T> {
  let waiting: T[] = [];
  let sentAt = now();
  const flush = () => {
    if (waiting.length > 0) send(waiting);
    waiting = [];
    sentAt = now();
  };
  return {
    add: (item, urgent) => {
      waiting.push(item);
      if (urgent || waiting.length >= MOST || now() - sentAt >= LONGEST_MS) flush();
    },
    flush,
  };
}
