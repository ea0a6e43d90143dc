import { suggest } from '#resources/words/suggest.ts';

/** Throws an Error that lists the node groups when `group` is none of them. */
export function checkNodeGroup(group: string, groups: readonly string[]): void {
  if (groups.includes(group)) return;
  throw new Error(
    `no resource is for node group "${group}"${suggest(group, groups)} (there is ${groups.join(', ')})`,
  );
}
