import { isMap, isSeq, type YAMLMap } from 'yaml';
import { isMerge, keyOf, type Resolve } from './yaml-node.ts';

/** A pair of a YAML map. An alias as its value is resolved. */
export type WrittenPair = { readonly key: string; readonly value: unknown };

/**
 * Returns all pairs of a map, with a repeated key repeated. After its own pairs come those that
 * `<<` merges in. A source adds only keys that were not there before it (yaml.org/type/merge).
 */
export function pairsOf(map: YAMLMap, resolve: Resolve): readonly WrittenPair[] {
  const own = map.items
    .filter(pair => !isMerge(pair))
    .map(pair => ({ key: keyOf(pair) ?? '', value: resolve(pair.value) }));
  const pairs = [...own];
  for (const source of mergeSources(map, resolve)) {
    const taken = new Set(pairs.map(({ key }) => key));
    pairs.push(...pairsOf(source, resolve).filter(({ key }) => !taken.has(key)));
  }
  return pairs;
}

function mergeSources(map: YAMLMap, resolve: Resolve): readonly YAMLMap[] {
  return map.items.filter(isMerge).flatMap(({ value }) => {
    const source = resolve(value);
    const sources = isSeq(source) ? source.items.map(resolve) : [source];
    return sources.filter(item => isMap(item));
  });
}
