import type { Glob } from './glob.ts';

/**
 * Values by the glob that they are for, so that only few of many are tried on a text. A glob that
 * is one text or begins with a text is found by that text. One that only ends with a text is found
 * by its end. The rest are always tried.
 */
export type GlobIndex<T> = {
  readonly exact: ReadonlyMap<string, T>;
  readonly begins: LiteralIndex<T>;
  readonly ends: LiteralIndex<T>;
};

type LiteralIndex<T> = {
  readonly lengths: readonly number[];
  readonly byText: ReadonlyMap<string, T>;
};

/** Builds the index. `make` builds what is kept for all values with one key, in the order given. */
export function indexGlobs<V, T>(
  values: readonly V[],
  globOf: (value: V) => Glob,
  make: (values: readonly V[]) => T,
): GlobIndex<T> {
  const [exact, begins, ends] = [
    new Map<string, V[]>(),
    new Map<string, V[]>(),
    new Map<string, V[]>(),
  ];
  for (const value of values) {
    const { prefix, suffix } = globOf(value);
    if (suffix === undefined) add(exact, prefix, value);
    else if (prefix === '' && suffix !== '') add(ends, suffix, value);
    else add(begins, prefix, value);
  }
  return { exact: made(exact, make), begins: literals(begins, make), ends: literals(ends, make) };
}

/** Calls `visit` with all that may be for the text, and perhaps more. */
export function visitCandidates<T>(
  { exact, begins, ends }: GlobIndex<T>,
  text: string,
  visit: (found: T) => void,
): void {
  const same = exact.get(text);
  if (same !== undefined) visit(same);
  for (const length of begins.lengths) {
    if (length > text.length) break;
    const found = begins.byText.get(text.slice(0, length));
    if (found !== undefined) visit(found);
  }
  for (const length of ends.lengths) {
    if (length > text.length) break;
    const found = ends.byText.get(text.slice(text.length - length));
    if (found !== undefined) visit(found);
  }
}

function add<V>(map: Map<string, V[]>, key: string, value: V): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

function made<V, T>(map: ReadonlyMap<string, readonly V[]>, make: (values: readonly V[]) => T) {
  return new Map([...map].map(([key, values]) => [key, make(values)] as const));
}

function literals<V, T>(map: ReadonlyMap<string, readonly V[]>, make: (values: readonly V[]) => T) {
  const lengths = [...new Set([...map.keys()].map(text => text.length))].sort((a, b) => a - b);
  return { lengths, byText: made(map, make) };
}
