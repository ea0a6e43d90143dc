import { isAlias, isMap, isSeq, type Pair, type YAMLMap } from 'yaml';
import { type FieldPath, type Finding, fault } from '#resources/finding.ts';
import { isMerge, keyOf, type Resolve } from './yaml-node.ts';
import type { YamlDocument } from './yaml-value.ts';

/** What aliases stand for, and the nodes in which a key may stand twice. */
type Context = { readonly resolve: Resolve; readonly free: ReadonlySet<unknown> };

/** Whether a key stands twice in any map of the document. */
export function hasDuplicateKeys({ document, resolve }: YamlDocument): boolean {
  return findDuplicates(document.contents, [], { resolve, free: new Set() }).length > 0;
}

/**
 * Returns a finding for each key that appears twice in one map below `node`, except in the nodes of
 * `free`. An anchor is checked where it stands. An alias is followed only to one of those nodes,
 * and when it is none itself.
 */
export function findDuplicateKeys(
  node: unknown,
  resolve: Resolve,
  free: ReadonlySet<unknown>,
): readonly Finding[] {
  return findDuplicates(node, [], { resolve, free });
}

function findDuplicates(node: unknown, path: FieldPath, context: Context): readonly Finding[] {
  const { resolve, free } = context;
  if (free.has(node)) return [];
  if (isSeq(node))
    return node.items.flatMap((item, index) => findDuplicates(item, [...path, index], context));
  if (isMap(node)) return findInMap(node, path, context);
  const target = isAlias(node) && free.size > 0 ? resolve(node) : undefined;
  return isMap(target) && free.has(target) ? findInMap(target, path, context) : [];
}

function findInMap(map: YAMLMap, path: FieldPath, context: Context): readonly Finding[] {
  const seen = new Set<string>();
  return map.items.flatMap(pair => {
    const key = keyOf(pair) ?? '';
    const at = [...path, key];
    const below = findDuplicates(pair.value, at, context);
    const message = `\`${key}\` appears twice in one map. Keep one`;
    return isRepeated(pair, seen) ? [fault(at, message), ...below] : below;
  });
}

function isRepeated(pair: Pair, seen: Set<string>): boolean {
  const key = keyOf(pair);
  if (key === undefined || isMerge(pair)) return false;
  const repeated = seen.has(key);
  seen.add(key);
  return repeated;
}
