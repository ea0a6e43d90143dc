/**
 * Returns the word of `words` that was probably meant. Near means at most one edit (insert, delete,
 * replace, or swap of neighbours) for every three letters of the longer word. Letter case does not
 * count.
 * @returns undefined when none is near enough
 */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const ranked = words
    .map(candidate => ({ candidate, distance: distanceWithin(word, candidate) }))
    .filter(({ distance }) => distance < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.candidate;
}

function distanceWithin(word: string, candidate: string): number {
  const limit = Math.floor((Math.max(word.length, candidate.length) + 1) / 3);
  if (Math.abs(word.length - candidate.length) > limit) return Number.POSITIVE_INFINITY;
  const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
  return distance > limit ? Number.POSITIVE_INFINITY : distance;
}

/** Returns `, did you mean …?` when one of `words` is near, else nothing. */
export function suggest(word: string, words: readonly string[]): string {
  const near = nearest(word, words);
  return near === undefined ? '' : `, did you mean \`${near}\`?`;
}

/** Returns the Damerau-Levenshtein distance (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = nextRow(a, b, i, row, before);
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}

function nextRow(
  a: string,
  b: string,
  i: number,
  row: readonly number[],
  before: readonly number[],
): number[] {
  const next = [i];
  for (let j = 1; j <= b.length; j++) {
    const replace = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
    const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
    const swap = swapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
    next.push(Math.min(replace, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
  }
  return next;
}
