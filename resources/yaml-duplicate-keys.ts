import { isMap, isSeq } from 'yaml';
import { type FieldPath, type Finding, fault } from './finding.ts';
import { keyOf } from './yaml-position.ts';

/** A finding for each key that stands twice in one map below `node`. Aliases are not followed: their anchor is seen once. */
export function findDuplicateKeys(node: unknown, path: FieldPath = []): readonly Finding[] {
  if (isSeq(node)) return node.items.flatMap((item, index) => findDuplicateKeys(item, [...path, index]));
  if (!isMap(node)) return [];
  const seen = new Set<string>();
  return node.items.flatMap(pair => {
    const key = keyOf(pair);
    const below = findDuplicateKeys(pair.value, [...path, key ?? '']);
    if (key === undefined || key === '<<') return below;
    const twice = seen.has(key);
    seen.add(key);
    return twice ? [fault([...path, key], `\`${key}\` stands twice in one map; keep one`), ...below] : below;
  });
}
