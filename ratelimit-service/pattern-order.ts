import type { PatternLabel } from '#resources/labels/label-pattern.ts';
import type { Limit } from './limit.ts';

/**
 * Which of two different patterns wins that are equally long and match equally well: the one with
 * fewer alternatives, compared from the left, else the one whose canonical text is first in the
 * order of UTF-16. Negative: `a`. Zero for equal patterns only.
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

/** What is written twice counts once, as it does in the canonical text. */
function alternatives(item: PatternLabel = []): number {
  if (item.length < 2) return item.length;
  return new Set(item.map(({ key, value }) => JSON.stringify([key, value]))).size;
}
