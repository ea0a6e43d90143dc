import { type Document, isAlias, isMap, isSeq, type YAMLMap } from 'yaml';
import { isMerge, keyOf } from './yaml-position.ts';

/** A pair of a YAML map; an alias as its value is resolved. */
export type WrittenPair = { readonly key: string; readonly value: unknown };

/** The node itself, or what an alias stands for. */
export function resolved(node: unknown, document: Document): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

/**
 * All pairs of a map, a key that stands twice twice. After its own come those that `<<` merges in, of each source without the keys
 * that were there before it (yaml.org/type/merge).
 */
export function pairsOf(map: YAMLMap, document: Document): readonly WrittenPair[] {
  const own = map.items
    .filter(pair => !isMerge(pair))
    .map(pair => ({ key: keyOf(pair) ?? '', value: resolved(pair.value, document) }));
  const pairs = [...own];
  for (const source of mergeSources(map, document)) {
    const taken = new Set(pairs.map(({ key }) => key));
    pairs.push(...pairsOf(source, document).filter(({ key }) => !taken.has(key)));
  }
  return pairs;
}

function mergeSources(map: YAMLMap, document: Document): readonly YAMLMap[] {
  return map.items.filter(isMerge).flatMap(({ value }) => {
    const source = resolved(value, document);
    const sources = isSeq(source) ? source.items.map(item => resolved(item, document)) : [source];
    return sources.filter(item => isMap(item));
  });
}
