import { isMap, isScalar, isSeq, type Pair, type YAMLMap } from 'yaml';
import type { FieldPath } from '#resources/finding.ts';
import type { Resolve } from './yaml-alias.ts';

/**
 * Returns the offset of the field at `path` below `node`: of its key, or of a list's item. For a
 * missing field, or one merged in by `<<`, it is that of the nearest existing field above it.
 */
export function offsetOf(node: unknown, path: FieldPath, resolve: Resolve): number {
  let at = node;
  let offset = offsetIn(node).offset ?? 0;
  for (const step of path) {
    const container: unknown = resolve(at);
    const child = stepInto(container, step);
    if (child === undefined) return offset;
    offset = child.offset ?? offset;
    at = child.value;
  }
  return offset;
}

function stepInto(
  container: unknown,
  step: string | number,
): { offset?: number; value: unknown } | undefined {
  if (isSeq(container) && typeof step === 'number') {
    const item = container.items[step];
    return item === undefined ? undefined : { ...offsetIn(item), value: item };
  }
  if (!isMap(container)) return undefined;
  // A pattern item with a key twice is read as a list of its pairs.
  if (typeof step === 'number') return pairAt(container, step);
  const pair = container.items.findLast(candidate => keyOf(candidate) === String(step));
  return pair === undefined ? undefined : { ...offsetIn(pair.key), value: pair.value };
}

function pairAt(map: YAMLMap, index: number): { offset?: number; value: unknown } | undefined {
  const pair = map.items.some(isMerge) ? undefined : map.items[index];
  return pair === undefined ? undefined : { ...offsetIn(pair.key), value: pair.value };
}

/** Whether a pair merges maps in. That is a plain `<<`, since a quoted one is a key like others. */
export function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
}

/** Returns the key of a pair as it is named in JavaScript, when it is a scalar. */
export function keyOf(pair: Pair): string | undefined {
  if (isScalar(pair.key)) return String(pair.key.value ?? '');
  return undefined;
}

function offsetIn(node: unknown): { offset?: number } {
  const range =
    typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined;
  return Array.isArray(range) && typeof range[0] === 'number' ? { offset: range[0] } : {};
}
