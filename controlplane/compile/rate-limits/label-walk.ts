import { canonicalAddress } from '#resources/ip-address.ts';
import type { LabelAlternative, LabelPattern, PatternLabel } from '#resources/label-pattern.ts';
import type { LabelNode } from './label-tree.ts';

/** How far the groups go along with a pattern that none of them matches. */
export type Unreached = {
  readonly reached: false;
  /** So many items of the pattern some group begins with. */
  readonly depth: number;
  /** One such group, in the operator's words. */
  readonly where: string;
  /** How many labels there are that such groups go on with, and up to three of them, those of the wanted key first. */
  readonly count: number;
  readonly nearest: readonly LabelNode[];
};

/** Whether a request can have a label group that the pattern matches. */
export type Reach = { readonly reached: true } | Unreached;

/** The labels that follow a set of paths, by key. */
type Following = {
  readonly all: LabelNode[];
  /** Whose value only the request tells. */
  readonly open: LabelNode[];
  /** The same of those that are IP addresses. */
  readonly addresses: LabelNode[];
  readonly byValue: Map<string, LabelNode[]>;
};

/** Where the same first items of patterns lead, whichever pattern has them. */
type Stand = {
  readonly nodes: readonly LabelNode[];
  readonly steps: Map<string, Stand>;
  following?: ReadonlyMap<string, Following>;
};

const NEAREST = 3;

/**
 * Walks patterns down a tree of label groups. What patterns have in common is walked once, so that ten thousand limits among ten
 * thousand groups cost little more than as many look-ups.
 */
export class LabelWalk {
  readonly #root: Stand;

  constructor(tree: LabelNode) {
    this.#root = standAt([tree]);
  }

  /** How far a pattern leads. Groups come in no domain that nobody labels: then not even the empty pattern is reached. */
  reach(pattern: LabelPattern): Reach {
    let stand = this.#root;
    for (const [depth, item] of pattern.entries()) {
      const next = step(stand, item);
      if (next.nodes.length === 0) return unreached(stand, depth, item);
      stand = next;
    }
    return pattern.length > 0 || followingOf(stand).size > 0 ? { reached: true } : unreached(stand, 0, []);
  }
}

function standAt(nodes: readonly LabelNode[]): Stand {
  return { nodes, steps: new Map() };
}

function unreached(stand: Stand, depth: number, item: PatternLabel): Unreached {
  const following = followingOf(stand);
  const nearest = new Set<LabelNode>();
  for (const key of [...item.map(({ key }) => key), ...following.keys()]) {
    if (nearest.size >= NEAREST) break;
    for (const node of following.get(key)?.all.slice(0, NEAREST) ?? []) nearest.add(node);
  }
  const count = [...following.values()].reduce((sum, { all }) => sum + all.length, 0);
  const where = stand.nodes[0]?.where ?? '';
  return { reached: false, depth, where, count, nearest: [...nearest].slice(0, NEAREST) };
}

function followingOf(stand: Stand): ReadonlyMap<string, Following> {
  stand.following ??= following(stand.nodes);
  return stand.following;
}

function step(stand: Stand, item: PatternLabel): Stand {
  const following = followingOf(stand);
  const labels = item.flatMap(alternative => labelsOf(following, alternative));
  const text = [...new Set(labels.map(({ text }) => text))].sort().join();
  const known = stand.steps.get(text);
  if (known !== undefined) return known;
  const made = standAt([...new Set(labels.flatMap(({ nodes }) => nodes))]);
  stand.steps.set(text, made);
  return made;
}

/** The labels that an alternative matches; the same text for the same ones: a value that no group names is like any other such. */
function labelsOf(following: ReadonlyMap<string, Following>, { key, value }: LabelAlternative) {
  const found = following.get(key);
  if (found === undefined) return [];
  if (value === undefined) return [{ text: JSON.stringify([key]), nodes: found.all }];
  const named = found.byValue.get(value) ?? [];
  const addresses = canonicalAddress(value) === value ? found.addresses : [];
  return [
    { text: JSON.stringify([key, null]), nodes: found.open },
    ...(addresses.length > 0 ? [{ text: JSON.stringify([key, null, 'address']), nodes: addresses }] : []),
    ...(named.length > 0 ? [{ text: JSON.stringify([key, value]), nodes: named }] : []),
  ];
}

function following(nodes: readonly LabelNode[]): ReadonlyMap<string, Following> {
  const byKey = new Map<string, Following>();
  for (const { children } of nodes) for (const node of children.values()) follow(byKey, node);
  return byKey;
}

function follow(byKey: Map<string, Following>, node: LabelNode): void {
  const { key, value, address } = node.label;
  const found: Following = byKey.get(key) ?? { all: [], open: [], addresses: [], byValue: new Map() };
  byKey.set(key, found);
  found.all.push(node);
  if (address) found.addresses.push(node);
  else if (value === undefined) found.open.push(node);
  else {
    const same = found.byValue.get(value);
    if (same === undefined) found.byValue.set(value, [node]);
    else same.push(node);
  }
}
