import type { GroupShape, LabelShape } from './label-shape.ts';

/** Label groups that begin alike share a path. A node is the last label of one. */
export type LabelNode = {
  readonly label: LabelShape;
  /** One group that goes through it, in the operator's words. */
  readonly where: string;
  readonly children: ReadonlyMap<string, LabelNode>;
};

type Growing = Omit<LabelNode, 'children'> & { readonly children: Map<string, Growing> };

/** Returns the groups as a tree. Its root stands before their first labels. */
export function labelTree(groups: readonly GroupShape[]): LabelNode {
  const root: Growing = { label: { key: '' }, where: '', children: new Map() };
  for (const { labels, where } of groups) {
    let node = root;
    for (const label of labels) node = child(node, label, where);
  }
  return root;
}

function child({ children }: Growing, label: LabelShape, where: string): Growing {
  const key = JSON.stringify([label.key, label.value, label.form]);
  const known = children.get(key);
  if (known !== undefined) return known;
  const made: Growing = { label, where, children: new Map() };
  children.set(key, made);
  return made;
}
