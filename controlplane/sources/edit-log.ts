import type { Logger } from 'pino';
import type { Written } from '#controlplane/rollout/candidates.ts';

/** A line has up to this many names of a kind of change. */
const MOST_NAMES = 10;

/**
 * Logs each edit by ids: resources that came, changed in meaning, or went. A rejected resource has
 * not gone, and its Problem reports it. Of the first reading it logs only the number.
 */
export function editLog(log: Logger): (written: Written) => void {
  let known: ReadonlyMap<string, string> | undefined;
  return ({ resources, rejected }) => {
    const before = known;
    const now = new Map([...resources].map(([id, { hash }]) => [id, hash]));
    for (const id of rejected.keys()) {
      const hash = before?.get(id);
      if (hash !== undefined && !now.has(id)) now.set(id, hash);
    }
    known = now;
    if (before === undefined) return log.info({ resources: resources.size }, 'resources read');
    const added = [...now.keys()].filter(id => !before.has(id));
    const changed = [...now].filter(([id, hash]) => before.has(id) && before.get(id) !== hash);
    const removed = [...before.keys()].filter(id => !now.has(id));
    if (added.length + changed.length + removed.length === 0) return;
    const names = {
      ...few('added', added),
      ...few('changed', changed.map(firstOf)),
      ...few('removed', removed),
    };
    log.info({ ...names, resources: resources.size }, 'resources edited');
  };
}

function firstOf([id]: readonly [string, string]): string {
  return id;
}

/** Returns an empty object when there are no ids. */
function few(what: string, ids: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const rest = ids.length - MOST_NAMES;
  if (ids.length === 0) return {};
  return { [what]: rest > 0 ? [...ids.slice(0, MOST_NAMES), `… and ${rest} more`] : ids };
}
