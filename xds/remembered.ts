type Level = WeakMap<WeakKey, unknown>;

/**
 * Returns the same function, which remembers its results. An input is known by its identity, and
 * its results are kept for as long as it is in use elsewhere. So what thousands of streams need of
 * the same inputs is made once. `make` must be pure.
 */
export function remembered<Inputs extends readonly WeakKey[], Result>(
  make: (...inputs: Inputs) => Result,
): (...inputs: Inputs) => Result {
  const root: Level = new WeakMap();
  return (...inputs) => {
    const last = inputs.at(-1) as WeakKey;
    const level = inputs.slice(0, -1).reduce(levelBelow, root);
    if (level.has(last)) return level.get(last) as Result;
    const result = make(...inputs);
    level.set(last, result);
    return result;
  };
}

function levelBelow(level: Level, input: WeakKey): Level {
  const known = level.get(input) as Level | undefined;
  if (known !== undefined) return known;
  const below: Level = new WeakMap();
  level.set(input, below);
  return below;
}

/** Returns a function that makes a value when it is first called, and then returns that one. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
