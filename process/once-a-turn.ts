/**
 * Returns a function that makes a value at most once in a turn of the event loop. So requests that
 * come together, of however many clients, cost what one does.
 */
export function onceATurn<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    if (made !== undefined) return made.value;
    const value = make();
    made = { value };
    setImmediate(() => {
      made = undefined;
    });
    return value;
  };
}
