import { type Document, isMap, isScalar, YAMLMap } from 'yaml';
import { type Finding, fault } from '#resources/finding.ts';
import { keyOf } from '#resources/yaml/yaml-node.ts';

/** What begins another document when it stands a second time. */
const BEGINS: readonly string[] = ['apiVersion', 'kind', 'metadata', 'items'];

/** Rejects each of several documents that stand in one. Which of them was meant is not known. */
export const JOINED: Finding = fault(
  ['kind'],
  'several resources are in one document. Write `---` between them, or keep one',
);

/** A part of a document that could be one of its own, and its fields. */
export type JoinedPart = { readonly node: YAMLMap; readonly value: object };

/**
 * Returns the parts of a document that joins several, as `cat` does with files that have no `---`.
 * One with a `kind` twice does, and a List with its `items` twice. YAML would take the last of
 * them, and the others would be lost without a word.
 * @returns undefined for any other document
 */
export function joinedParts(node: unknown, document: Document): readonly JoinedPart[] | undefined {
  if (!isMap(node) || !isJoined(node)) return undefined;
  const parts: YAMLMap[] = [];
  for (const pair of node.items) {
    const key = keyOf(pair) ?? '';
    const last = parts.at(-1);
    if (last === undefined || (BEGINS.includes(key) && countOf(last, key) > 0))
      parts.push(partOf(node, [pair]));
    else last.items.push(pair);
  }
  const shared = countOf(node, 'kind') === 1 ? { kind: node.get('kind') } : {};
  const all = parts.map(part => ({ node: part, value: { ...part.toJS(document), ...shared } }));
  return all.every(({ value }) => isWhole(value)) ? all : undefined;
}

/** A line that was doubled by mistake makes no second resource, which might close everything. */
function isWhole(value: object): boolean {
  const others = Object.keys(value).filter(
    key => !['apiVersion', 'kind', 'metadata'].includes(key),
  );
  return Object.hasOwn(value, 'kind') && others.length > 0;
}

function isJoined(node: YAMLMap): boolean {
  if (countOf(node, 'kind') > 1) return true;
  const kind = node.get('kind', true);
  return isScalar(kind) && kind.value === 'List' && countOf(node, 'items') > 1;
}

function countOf({ items }: YAMLMap, key: string): number {
  return items.filter(pair => keyOf(pair) === key).length;
}

function partOf({ range, schema }: YAMLMap, items: YAMLMap['items']): YAMLMap {
  const part = new YAMLMap(schema);
  part.items = items;
  part.range = range ?? null;
  return part;
}
