import {
  canonicalPattern,
  type LabelPattern,
  type PatternLabel,
} from '#resources/labels/label-pattern.ts';
import { pushTo } from '#resources/words/push-to.ts';
import type { LabelWalk } from './label-walk.ts';

/** An Enforce limit, in the operator's words. */
export type Enforced = { readonly pattern: LabelPattern; readonly where: string };

/** Enforce limits whose patterns begin alike share a path. */
type PatternNode = {
  readonly children: Map<string, PatternNode>;
  readonly byKey: Map<string, Children>;
  limit?: Enforced;
};
type Children = {
  readonly all: PatternNode[];
  /** Reached by any value of the key. */
  readonly any: PatternNode[];
  readonly byValue: Map<string, PatternNode[]>;
};

/**
 * The most steps for each LogOnly limit. Without this bound many limits would cost their square. A
 * warning is advice, and no decision depends on it.
 */
const MOST_STEPS = 200;

/**
 * Finds Enforce limits that a LogOnly limit hides. Of the patterns that match a label group the
 * longest wins, and of equally long ones the one with more exact values. Where a LogOnly limit
 * wins, requests are only logged (docs/adr/0009-rate-limits-at-the-edge.md).
 */
export class HiddenLimits {
  readonly #root = patternNode();

  constructor(enforced: readonly Enforced[]) {
    for (const limit of enforced) insert(this.#root, limit);
  }

  /**
   * Returns the first Enforce limit that this pattern of a LogOnly limit hides from some request.
   * @returns undefined when there is none, or an Enforce limit has this very pattern
   */
  hiddenBy(pattern: LabelPattern, walk: LabelWalk): Enforced | undefined {
    if (!walk.reach(pattern).reached || find(this.#root, pattern)?.limit !== undefined)
      return undefined;
    let steps = 0;
    for (const { limit } of candidates(this.#root, pattern, 0)) {
      if (++steps > MOST_STEPS) return undefined;
      if (limit === undefined || !isBeaten(limit.pattern, pattern)) continue;
      if (walk.reach(both(limit.pattern, pattern)).reached) return limit;
    }
    return undefined;
  }
}

function patternNode(): PatternNode {
  return { children: new Map(), byKey: new Map() };
}

function insert(root: PatternNode, limit: Enforced): void {
  let node = root;
  for (const item of limit.pattern) node = childOf(node, item);
  node.limit ??= limit;
}

function childOf(node: PatternNode, item: PatternLabel): PatternNode {
  const text = canonicalPattern([item]);
  const known = node.children.get(text);
  if (known !== undefined) return known;
  const made = patternNode();
  node.children.set(text, made);
  for (const { key, value } of item) {
    const children: Children = node.byKey.get(key) ?? { all: [], any: [], byValue: new Map() };
    node.byKey.set(key, children);
    children.all.push(made);
    if (value === undefined) children.any.push(made);
    else pushTo(children.byValue, value, made);
  }
  return made;
}

function find(root: PatternNode, pattern: LabelPattern): PatternNode | undefined {
  return pattern.reduce<PatternNode | undefined>(
    (node, item) => node?.children.get(canonicalPattern([item])),
    root,
  );
}

/**
 * Yields the nodes of limits that may match a group that `pattern` matches, and are not longer than
 * it. Of those on one path the longest comes first.
 */
function* candidates(
  node: PatternNode,
  pattern: LabelPattern,
  depth: number,
): Generator<PatternNode> {
  for (const { key, value } of pattern[depth] ?? []) {
    const children = node.byKey.get(key);
    if (children === undefined) continue;
    const next =
      value === undefined ? [children.all] : [children.any, children.byValue.get(value) ?? []];
    for (const some of next) for (const child of some) yield* candidates(child, pattern, depth + 1);
  }
  yield node;
}

function isBeaten(enforced: LabelPattern, logged: LabelPattern): boolean {
  if (enforced.length !== logged.length) return enforced.length < logged.length;
  const [a, b] = [enforced, logged].map(pattern =>
    pattern.map(item => Number(item.every(({ value }) => value !== undefined))).join(''),
  );
  return a !== undefined && b !== undefined && a < b;
}

/**
 * Returns the pattern for exactly the groups that both match. `longer` is not shorter than the
 * other.
 */
function both(shorter: LabelPattern, longer: LabelPattern): LabelPattern {
  return longer.map((item, index) => {
    const other = shorter[index];
    return other === undefined ? item : intersect(item, other);
  });
}

function intersect(a: PatternLabel, b: PatternLabel): PatternLabel {
  const [inA, inB] = [valuesByKey(a), valuesByKey(b)];
  const isIn = (of: typeof inA, key: string, value?: string) => of.get(key)?.has(value) === true;
  return [
    ...a.filter(
      ({ key, value }) => value !== undefined && (isIn(inB, key, value) || isIn(inB, key)),
    ),
    ...b.filter(({ key }) => isIn(inA, key)),
  ];
}

/** A key that stands for any value has `undefined` among its values. */
function valuesByKey(item: PatternLabel): ReadonlyMap<string, ReadonlySet<string | undefined>> {
  const byKey = Map.groupBy(item, ({ key }) => key);
  return new Map([...byKey].map(([key, some]) => [key, new Set(some.map(({ value }) => value))]));
}
