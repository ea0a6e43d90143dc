import type { Logger } from 'pino';
import type { Written } from '#controlplane/rollout/candidates.ts';
import { changedIds } from '#controlplane/rollout/changed-ids.ts';

/** A line has up to this many names of a kind of change. */
const MOST_NAMES = 10;

/**
 * Logs each edit by ids: resources that came, changed in meaning, or went. A rejected resource has
 * not gone, and its Problem reports it. Of the first reading it logs only the number.
 */
export function editLog(log: Logger): (written: Written) => void {
  let known: ReadonlyMap<string, { readonly hash: string }> | undefined;
  return ({ resources, rejected }) => {
    const before = known;
    const kept = [...rejected.keys()].flatMap(id => {
      const earlier = before?.get(id);
      return earlier === undefined ? [] : [[id, earlier] as const];
    });
    const now = kept.length === 0 ? resources : new Map([...kept, ...resources]);
    known = now;
    if (before === undefined) return log.info({ resources: resources.size }, 'resources read');
    const { added, changed, removed } = changedIds(before, now);
    if (added.length + changed.length + removed.length === 0) return;
    const names = {
      ...few('added', added),
      ...few('changed', changed),
      ...few('removed', removed),
    };
    log.info({ ...names, resources: resources.size }, 'resources edited');
  };
}

/** Returns an empty object when there are no ids. */
function few(what: string, ids: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const rest = ids.length - MOST_NAMES;
  if (ids.length === 0) return {};
  return { [what]: rest > 0 ? [...ids.slice(0, MOST_NAMES), `… and ${rest} more`] : ids };
}
