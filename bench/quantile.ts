/**
 * Returns the value below which the share `q` (0 to 1) of the samples lies, by the nearest rank.
 * Throws when there is none.
 */
export function quantile(samples: readonly number[], q: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)];
  if (value === undefined) throw new Error('No samples');
  return value;
}

/** Formats `median / p99` in ms. */
export function medianAndP99(samples: readonly number[]): string {
  return `${toMs(quantile(samples, 0.5))} / ${toMs(quantile(samples, 0.99))}`;
}

/** Formats milliseconds with the significant digits. */
export function toMs(ms: number): string {
  return ms < 10 ? ms.toFixed(1) : ms.toFixed(0);
}
