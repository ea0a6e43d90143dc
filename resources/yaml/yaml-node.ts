import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  visit,
  type YAMLMap,
} from 'yaml';
import type { FieldPath } from '#resources/finding.ts';

/**
 * Returns what an alias stands for, or undefined when it has no target. Any other node is returned
 * itself.
 */
export type Resolve = (node: unknown) => unknown;

/**
 * Resolves the aliases of a document. All are found at once, at the first call, since the library
 * reads the document for each.
 */
export function createResolve(document: Document): Resolve {
  let targets: ReadonlyMap<unknown, Node> | undefined;
  return node => {
    if (!isAlias(node)) return node;
    targets ??= findTargets(document);
    return targets.get(node);
  };
}

/** An alias means the last anchor of its name before it (YAML 1.2.2, section 7.1). */
function findTargets(document: Document): ReadonlyMap<unknown, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<unknown, Node>();
  visit(document, {
    Node(_key, node) {
      const target = isAlias(node) ? anchors.get(node.source) : undefined;
      if (target !== undefined) targets.set(node, target);
      if (!isAlias(node) && isNode(node) && node.anchor !== undefined)
        anchors.set(node.anchor, node);
    },
  });
  return targets;
}

/** Returns what finds the line of a field below `node`. `lineAt` gives the line of an offset. */
export function lineFinder(
  node: unknown,
  { lineAt, resolve }: { readonly lineAt: (offset: number) => number; readonly resolve: Resolve },
): (path: FieldPath) => number {
  return path => lineAt(offsetOf(node, path, resolve));
}

/**
 * Returns the offset of the field at `path` below `node`: of its key, or of a list's item. For a
 * missing field, or one merged in by `<<`, it is that of the nearest existing field above it.
 */
function offsetOf(node: unknown, path: FieldPath, resolve: Resolve): number {
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
