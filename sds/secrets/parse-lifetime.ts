const MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * Parses whole numbers with a unit as Go writes durations: `24h`, `1h30m` or `300ms`.
 * @returns milliseconds, or undefined when the text is no duration
 */
export function parseLifetime(text: string): number | undefined {
  if (!/^(?:\d{1,9}(?:ms|s|m|h))+$/.test(text)) return undefined;
  const terms = [...text.matchAll(/(\d+)(ms|s|m|h)/g)];
  return terms.reduce((sum, [, digits, unit = '']) => sum + Number(digits) * (MS[unit] ?? 0), 0);
}
