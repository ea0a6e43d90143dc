import type { Label } from '#resources/labels/label-pattern.ts';

/**
 * Writes each text after its length, so that no two groups have the same key, whatever clients
 * send.
 */
export function groupKey(group: readonly Label[]): string {
  let key = '';
  for (const label of group)
    key += `${label.key.length}:${label.key}${label.value.length}:${label.value}`;
  return key;
}

/** Reads what `groupKey` wrote. */
export function labelsOf(groupKey: string): readonly Label[] {
  const texts: string[] = [];
  for (let at = 0; at < groupKey.length; ) {
    const colon = groupKey.indexOf(':', at);
    const end = colon + 1 + Number(groupKey.slice(at, colon));
    texts.push(groupKey.slice(colon + 1, end));
    at = end;
  }
  return texts.flatMap((key, index) =>
    index % 2 === 0 ? { key, value: texts[index + 1] ?? '' } : [],
  );
}
