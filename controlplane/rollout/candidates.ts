import type { Refused, Resource } from '#resources/resource.ts';
import type { Resources } from './rollout.ts';

/** All that the files say, before any proxy has seen it. */
export type Written = {
  readonly resources: Resources;
  readonly refused: ReadonlyMap<string, Refused>;
  /** Files of which a part is so broken that nobody knows what it was about. */
  readonly unreadable: ReadonlySet<string>;
  /**
   * Files with a document that has an error and does not say, or not for sure, which resource it
   * is.
   */
  readonly anonymous: ReadonlySet<string>;
};

/** What is to be brought into force. */
export type Candidates = {
  readonly resources: Resources;
  /** Refused resources without a last good version: what they cover is closed. */
  readonly closed: readonly Refused[];
  /** Ids that stay in force in an older version than the one that is written. */
  readonly kept: ReadonlySet<string>;
  /** Unreadable files from which nothing is in force: what they were about cannot be known. */
  readonly unknown: readonly string[];
};

/**
 * What is written, with the last good version for what is refused, and for what a broken file may
 * have held (docs/adr/0002-closed-or-last-good.md).
 */
export function candidates(written: Written, lastGood: Resources): Candidates {
  const resources = new Map(written.resources);
  const kept = new Set<string>();
  // What a document without a name probably is, and must not close.
  const found = new Set<string>();
  for (const [id, good] of lastGood) {
    const { file } = good.source;
    const lost =
      !resources.has(id) && (written.unreadable.has(file) || written.anonymous.has(file));
    if (!lost && !written.refused.has(id)) continue;
    resources.set(id, good);
    kept.add(id);
    if (lost) found.add(placeOf(good));
  }
  const inForce = new Set([...resources.values()].map(resource => resource.source.file));
  return {
    resources,
    closed: [...written.refused.values()].filter(
      refused => !lastGood.has(refused.id) && !(refused.name === '' && found.has(placeOf(refused))),
    ),
    kept,
    unknown: [...written.unreadable].filter(file => !inForce.has(file)).sort(),
  };
}

function placeOf({ kind, source: { file } }: Resource | Refused): string {
  return `${kind} in ${file}`;
}
