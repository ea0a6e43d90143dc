/** More tasks arrived at once than may wait. Clients get a 503. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

/** Runs a task now or later. Rejects with Overloaded at once when too many wait already. */
export type Limiter = <T>(task: () => Promise<T>) => Promise<T>;

/**
 * Returns a limiter that runs at most `concurrency` tasks at a time. At most `waiting` more wait,
 * in the order of arrival.
 */
export function limiter(concurrency: number, waiting: number): Limiter {
  const queue: (() => void)[] = [];
  let running = 0;

  const enter = async () => {
    if (running < concurrency) {
      running += 1;
      return;
    }
    if (queue.length >= waiting) throw new Overloaded(`${waiting} tasks are waiting already`);
    await new Promise<void>(resolve => queue.push(resolve));
  };
  const leave = () => {
    const next = queue.shift();
    if (next === undefined) running -= 1;
    else next(); // takes over the place of the one that leaves
  };

  return async task => {
    await enter();
    try {
      return await task();
    } finally {
      leave();
    }
  };
}
