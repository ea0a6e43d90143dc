/**
 * A value that is available at once, or later. A promise costs turns of the event loop, which most
 * checks need not spend.
 */
export type Eventually<T> = T | Promise<T>;

/**
 * Goes on with a value, at once where it is available. What `next` throws is thrown, or rejects.
 */
export function whenThere<T, U>(
  value: Eventually<T>,
  next: (value: T) => Eventually<U>,
): Eventually<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
