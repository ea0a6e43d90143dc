const ODD: readonly unknown[] = [
  null,
  0,
  1,
  1.5,
  -1,
  1e9,
  3.0,
  true,
  false,
  '',
  'x',
  '1h',
  '*',
  [],
  {},
  ['a'],
  [{}],
  { a: 'b' },
  [[{ a: 'b' }]],
];

/**
 * Returns a copy in which one value anywhere is another, one key is in other letter case, or one is
 * nobody's.
 */
export function disturb(value: unknown, random: () => number): unknown {
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
  if (typeof value !== 'object' || value === null || random() < 0.15) return pick(ODD);
  if (Array.isArray(value)) {
    const at = Math.floor(random() * value.length);
    return value.map((item, index) => (index === at ? disturb(item, random) : item));
  }
  const keys = Object.keys(value);
  const key = pick(keys) ?? 'unknown';
  const way = random();
  const entries = Object.entries(value);
  if (way < 0.1) return { ...value, [`x${key}`]: pick(ODD) };
  if (way < 0.25)
    return Object.fromEntries(
      entries.map(([name, item]) => [name === key ? name.toUpperCase() : name, item]),
    );
  return Object.fromEntries(
    entries.map(([name, item]) => [name, name === key ? disturb(item, random) : item]),
  );
}
