import type { Rejected, Resource } from '#resources/resource.ts';
import type { Resources } from './rollout.ts';

/** The contents of all files, before any proxy has received them. */
export type Written = {
  readonly resources: Resources;
  readonly rejected: ReadonlyMap<string, Rejected>;
  /** Files that could not be parsed far enough to identify their resources. */
  readonly unreadable: ReadonlySet<string>;
  /** Files with an erroneous document whose resource is unknown or uncertain. */
  readonly anonymous: ReadonlySet<string>;
};

/** What is to be brought into force. */
export type Candidates = {
  readonly resources: Resources;
  /** Rejected resources without a last good version. What they cover is closed. */
  readonly closed: readonly Rejected[];
  /** Ids that stay in force in an older version than the written one. */
  readonly kept: ReadonlySet<string>;
  /** Unreadable files without anything in force. What they were about is unknown. */
  readonly unknown: readonly string[];
};

/**
 * Returns what is written, with the last good version of what is rejected, and of what a broken
 * file may have held (docs/adr/0002-closed-or-last-good.md).
 */
export function candidates(written: Written, lastGood: Resources): Candidates {
  const { anonymous, rejected, unreadable } = written;
  if (anonymous.size + rejected.size + unreadable.size === 0)
    return { resources: written.resources, closed: [], kept: new Set(), unknown: [] };
  const resources = new Map(written.resources);
  const kept = new Set<string>();
  // The likely id of a document without a name. It must not close that resource.
  const found = new Set<string>();
  for (const [id, good] of lastGood) {
    const { file } = good.source;
    const lost = !resources.has(id) && (unreadable.has(file) || anonymous.has(file));
    if (!lost && !rejected.has(id)) continue;
    resources.set(id, good);
    kept.add(id);
    if (lost) found.add(placeOf(good));
  }
  const inForce = new Set([...resources.values()].map(resource => resource.source.file));
  return {
    resources,
    closed: [...rejected.values()].filter(
      item => !lastGood.has(item.id) && !(item.name === '' && found.has(placeOf(item))),
    ),
    kept,
    unknown: [...unreadable].filter(file => !inForce.has(file)).sort(),
  };
}

function placeOf({ kind, source: { file } }: Resource | Rejected): string {
  return `${kind} in ${file}`;
}
