const ODD: readonly unknown[] = [
  null,
  0,
  -1.5,
  1e308,
  true,
  '',
  '*://*',
  '1h',
  '{{',
  '\u0000',
  '\ud800',
  [],
  {},
  [{}],
  JSON.parse('{"__proto__": {"constructor": 1}}'),
];

/** Returns a value with about `share` of its parts left out, misspelt, or of another form. */
export function damaged(value: unknown, random: () => number, share: number): unknown {
  if (random() < share) return ODD[Math.floor(random() * ODD.length)];
  if (Array.isArray(value))
    return value.filter(() => random() > share).map(item => damaged(item, random, share));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(() => random() > 2 * share);
  return Object.fromEntries(
    kept.map(([key, item]) => [misspelt(key, random, share), damaged(item, random, share)]),
  );
}

function misspelt(key: string, random: () => number, share: number): string {
  if (random() > share / 3) return key;
  return [key.toLowerCase(), `${key}x`, '__proto__', 'toString'][Math.floor(random() * 4)] ?? key;
}
