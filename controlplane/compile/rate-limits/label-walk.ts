import type {
  LabelAlternative,
  LabelPattern,
  PatternLabel,
} from '#resources/labels/label-pattern.ts';
import { isTargetLabel } from '#resources/labels/target-label.ts';
import { addressNetwork, type PrefixLengths } from '#resources/words/address-network.ts';
import { ipVersion } from '#resources/words/ip-address.ts';
import { pushTo } from '#resources/words/push-to.ts';
import type { LabelForm } from './label-shape.ts';
import type { LabelNode } from './label-tree.ts';

/** How far the groups agree with a pattern that none of them matches. */
export type Unreached = {
  readonly reached: false;
  /** The number of items of the pattern that some group begins with. */
  readonly depth: number;
  /** One such group, in the operator's words. */
  readonly where: string;
  /**
   * The number of labels that continue such groups, and up to three of them, those of the wanted
   * key first.
   */
  readonly count: number;
  readonly nearest: readonly LabelNode[];
};

/** Whether a request can have a label group that the pattern matches. */
export type Reach = { readonly reached: true } | Unreached;

/** The labels that follow a set of paths, by key. */
type Following = {
  readonly all: LabelNode[];
  /** Labels that a pattern for any value matches: all but those of limits for targets. */
  readonly any: LabelNode[];
  /** Labels whose value only the request tells. */
  readonly open: LabelNode[];
  /** The same for labels whose form is known. */
  readonly byForm: Map<LabelForm, LabelNode[]>;
  readonly byValue: Map<string, LabelNode[]>;
};

/** Where the same first items of patterns lead, whichever pattern has them. */
type Stand = {
  readonly nodes: readonly LabelNode[];
  readonly steps: Map<string, Stand>;
  following?: ReadonlyMap<string, Following>;
};

type Known = Pick<LabelWalk, 'clusters' | 'prefixes'>;

const NEAREST = 3;

/**
 * Walks patterns down a tree of label groups. Common beginnings of patterns are walked once. So ten
 * thousand limits among ten thousand groups cost little more than as many look-ups.
 */
export class LabelWalk {
  readonly #root: Stand;
  /** The names of the clusters that requests go to. */
  readonly clusters: ReadonlySet<string>;
  /** The part of an address that is its label. */
  readonly prefixes: PrefixLengths;

  constructor(tree: LabelNode, clusters: ReadonlySet<string>, prefixes: PrefixLengths) {
    this.#root = standAt([tree]);
    this.clusters = clusters;
    this.prefixes = prefixes;
  }

  /**
   * Returns how far a pattern leads. A domain without labels has no groups, so not even the empty
   * pattern is reached.
   */
  reach(pattern: LabelPattern): Reach {
    let stand = this.#root;
    for (const [depth, item] of pattern.entries()) {
      const next = step(stand, item, this);
      if (next.nodes.length === 0) return unreached(stand, depth, item);
      stand = next;
    }
    return pattern.length > 0 || followingOf(stand).size > 0
      ? { reached: true }
      : unreached(stand, 0, []);
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

function step(stand: Stand, item: PatternLabel, known: Known): Stand {
  const following = followingOf(stand);
  const labels = item.flatMap(alternative => labelsOf(following, alternative, known));
  const text = [...new Set(labels.map(({ text }) => text))].sort().join();
  const there = stand.steps.get(text);
  if (there !== undefined) return there;
  const made = standAt([...new Set(labels.flatMap(({ nodes }) => nodes))]);
  stand.steps.set(text, made);
  return made;
}

/**
 * Returns the labels that an alternative matches. The text is the same for the same labels: all
 * values that no group names are alike.
 */
function labelsOf(
  following: ReadonlyMap<string, Following>,
  { key, value }: LabelAlternative,
  known: Known,
) {
  const found = following.get(key);
  if (found === undefined) return [];
  if (value === undefined) return [{ text: JSON.stringify([key]), nodes: found.any }];
  const named = found.byValue.get(value) ?? [];
  const formed = formsOf(value, known).flatMap(form => {
    const nodes = found.byForm.get(form) ?? [];
    return nodes.length === 0 ? [] : [{ text: JSON.stringify([key, null, form]), nodes }];
  });
  return [
    { text: JSON.stringify([key, null]), nodes: found.open },
    ...formed,
    ...(named.length > 0 ? [{ text: JSON.stringify([key, value]), nodes: named }] : []),
  ];
}

function formsOf(value: string, { clusters, prefixes }: Known): readonly LabelForm[] {
  return [
    ...(isAddress(value, prefixes) ? (['address'] as const) : []),
    ...(clusters.has(value) ? (['cluster'] as const) : []),
  ];
}

/**
 * Returns whether the value is an address in any spelling, or the network of one as the service
 * writes it.
 */
function isAddress(value: string, prefixes: PrefixLengths): boolean {
  if (ipVersion(value) !== 0) return true;
  const [address = ''] = value.split('/', 1);
  return ipVersion(address) !== 0 && addressNetwork(address, prefixes) === value;
}

function following(nodes: readonly LabelNode[]): ReadonlyMap<string, Following> {
  const byKey = new Map<string, Following>();
  for (const { children } of nodes) for (const node of children.values()) follow(byKey, node);
  return byKey;
}

function follow(byKey: Map<string, Following>, node: LabelNode): void {
  const { key, value, form } = node.label;
  const found: Following = byKey.get(key) ?? {
    all: [],
    any: [],
    open: [],
    byForm: new Map(),
    byValue: new Map(),
  };
  byKey.set(key, found);
  found.all.push(node);
  if (!isTargetLabel(node.label)) found.any.push(node);
  if (form !== undefined) pushTo(found.byForm, form, node);
  else if (value === undefined) found.open.push(node);
  else pushTo(found.byValue, value, node);
}
