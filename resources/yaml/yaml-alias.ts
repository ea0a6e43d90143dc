import { type Document, isAlias, isNode, type Node, visit } from 'yaml';

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
