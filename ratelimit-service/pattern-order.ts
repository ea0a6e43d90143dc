import type { PatternLabel } from '#resources/labels/label-pattern.ts';
import type { Limit } from './limit.ts';

/**
 * Decides between two different patterns that are equally long and match equally well. The one with
 * fewer alternatives wins, compared from the left. Else the one wins whose canonical text is first
 * in the order of UTF-16.
 * @returns a negative number when `a` wins, and zero for equal patterns only
 */
export function comparePatterns(a: Limit, b: Limit): number {
  const length = Math.min(a.pattern.length, b.pattern.length);
  for (let index = 0; index < length; index++) {
    const difference = alternatives(a.pattern[index]) - alternatives(b.pattern[index]);
    if (difference !== 0) return difference;
  }
  if (a.canonical === b.canonical) return 0;
  return a.canonical < b.canonical ? -1 : 1;
}

/** Counts an alternative that is written twice once, as the canonical text does. */
function alternatives(item: PatternLabel = []): number {
  if (item.length < 2) return item.length;
  return new Set(item.map(({ key, value }) => JSON.stringify([key, value]))).size;
}
