import type { ComparableForms } from '#resources/labels/label-meanings.ts';
import { canonicalPattern, type PatternLabel } from '#resources/labels/label-pattern.ts';
import type { Limit } from './limit.ts';
import { comparePatterns } from './pattern-order.ts';

/**
 * A step of the patterns of one domain, read as paths. Patterns that begin with the same items
 * share their first nodes. A node is found by a label's key and value, or by its key alone. So
 * matching does not depend on how many siblings a node has.
 */
export type PatternNode = {
  /** The limits whose pattern ends here, in the order of the configuration. */
  readonly limits: readonly Limit[];
  /** By label key. */
  readonly next: ReadonlyMap<string, Branches>;
  /**
   * Decides between two patterns of equal length that match equally well. The lower rank wins. It
   * is used only where limits are.
   */
  readonly rank: number;
};

/**
 * Where a label of one key leads, by its value and for any value. If a node is in both, the one by
 * value wins.
 */
export type Branches = {
  readonly exact: ReadonlyMap<string, ReadonlySet<PatternNode>>;
  readonly any: ReadonlySet<PatternNode>;
};

/** All limits, ready to be matched. */
export type LimitIndex = {
  /** By label domain. */
  readonly roots: ReadonlyMap<string, PatternNode>;
  /** The forms of the labels of each label domain. */
  readonly forms: ReadonlyMap<string, ComparableForms>;
};

type GrowingBranches = {
  readonly exact: Map<string, Set<GrowingNode>>;
  readonly any: Set<GrowingNode>;
};
type GrowingNode = {
  limits: Limit[];
  next: Map<string, GrowingBranches>;
  rank: number;
  /** By canonical item. */
  children: Map<string, GrowingNode>;
};

/**
 * Compiles limits of any number of resources and domains to an index. Limits of one pattern are
 * returned in the order given here. Pass them in an order that all replicas share.
 */
export function compileLimits(limits: readonly Limit[]): LimitIndex {
  const roots = new Map<string, GrowingNode>();
  const ends = new Map<GrowingNode, Limit>();
  for (const limit of limits) ends.set(addLimit(rootOf(roots, limit.domain), limit), limit);
  rank(ends);
  return { roots, forms: formsOf(limits) };
}

/** Gathers the forms of each domain. What one resource says of a domain's labels holds for all. */
function formsOf(limits: readonly Limit[]): LimitIndex['forms'] {
  const all = new Map<string, Map<string, (value: string) => string>>();
  for (const { domain, forms } of limits) {
    const ofDomain = getOrCreate(all, domain, () => new Map());
    for (const [key, form] of forms) ofDomain.set(key, form);
  }
  return all;
}

function rank(ends: ReadonlyMap<GrowingNode, Limit>): void {
  const sorted = [...ends].sort(([, a], [, b]) => comparePatterns(a, b));
  for (const [index, [node]] of sorted.entries()) node.rank = index;
}

function addLimit(root: GrowingNode, limit: Limit): GrowingNode {
  const end = limit.pattern.reduce(child, root);
  end.limits.push(limit);
  return end;
}

function child(node: GrowingNode, item: PatternLabel): GrowingNode {
  const canonical = canonicalPattern([item]);
  const known = node.children.get(canonical);
  if (known !== undefined) return known;
  const created = emptyNode();
  node.children.set(canonical, created);
  for (const { key, value } of item) nodesFor(branchesFor(node, key), value).add(created);
  return created;
}

function branchesFor(node: GrowingNode, key: string): GrowingBranches {
  return getOrCreate(node.next, key, () => ({ exact: new Map(), any: new Set() }));
}

function nodesFor({ exact, any }: GrowingBranches, value: string | undefined): Set<GrowingNode> {
  return value === undefined ? any : getOrCreate(exact, value, () => new Set());
}

function rootOf(roots: Map<string, GrowingNode>, domain: string): GrowingNode {
  return getOrCreate(roots, domain, emptyNode);
}

function emptyNode(): GrowingNode {
  return { limits: [], next: new Map(), rank: 0, children: new Map() };
}

function getOrCreate<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  return created;
}
