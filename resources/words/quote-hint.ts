/**
 * Returns what to write instead of a value that YAML did not read as a string, as words that follow
 * "must be a string".
 */
export function quoteHint(value: unknown): string {
  if (typeof value === 'number') return ', not a number. Quote it, as in "5"';
  return typeof value === 'boolean' ? `, not ${value}. Quote it, as in "${value}"` : '';
}
