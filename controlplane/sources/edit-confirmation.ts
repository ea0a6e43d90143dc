import { basename, resolve, sep } from 'node:path';
import type { Logger } from 'pino';
import type { Written } from '#controlplane/rollout/candidates.ts';
import type { Rollout } from '#controlplane/rollout/rollout.ts';
import type { Resource, ResourcesById } from '#resources/resource.ts';

/** Of more files at once one line gives the sum. */
const MOST_LINES = 5;

export type EditConfirmation = {
  /** Takes what the operator's files hold now. */
  written(written: Written): void;
  /** Logs the edits that are in force when no trial runs any more. */
  settled(rollout: Rollout): void;
};

/**
 * Logs each edit of a file once it is in force, and the time since it was read. Such a line also
 * goes to the console (`console`). What is there at the start is not an edit, and the files in the
 * state folder are the gateway's own.
 */
export function confirmEdits(log: Logger, state: string, now: () => number): EditConfirmation {
  let known: ResourcesById | undefined;
  const edited = new Map<string, number>();
  return {
    written({ resources }) {
      const before = known;
      known = resources;
      if (before === undefined) return;
      for (const file of editedFiles(before, resources))
        if (file !== '' && !isBelow(state, file)) edited.set(file, now());
    },
    settled({ accepted, trial }) {
      if (trial !== undefined || edited.size === 0) return;
      const inForce = Map.groupBy(accepted.values(), ({ source }) => source.file);
      const files = [...edited].map(([file, at]) => ({
        file,
        resources: inForce.get(file) ?? [],
        ms: now() - at,
      }));
      edited.clear();
      const tell = (what: string, ms: number) =>
        log.info({ console: true }, `${what} after ${Math.max(1, Math.round(ms))} ms`);
      if (files.length <= MOST_LINES)
        for (const { file, resources, ms } of files)
          tell(`${basename(file)}: ${counted(resources)}`, ms);
      else {
        const all = files.flatMap(({ resources }) => resources);
        tell(`${files.length} files: ${counted(all)}`, Math.max(...files.map(({ ms }) => ms)));
      }
    },
  };
}

/** Returns the files of resources that came, changed, moved to another file, or went. */
function editedFiles(before: ResourcesById, now: ResourcesById): ReadonlySet<string> {
  const files = new Set<string>();
  for (const [id, resource] of now) {
    const earlier = before.get(id);
    if (earlier === resource) continue;
    const [from, to] = [fileOf(earlier), fileOf(resource)];
    if (from !== to || earlier?.hash !== resource.hash) files.add(from).add(to);
  }
  for (const [id, resource] of before) if (!now.has(id)) files.add(fileOf(resource));
  return files;
}

/** What is in no file is not an edit by the operator here. */
function fileOf(resource: Resource | undefined): string {
  return resource === undefined || resource.source.line === 0 ? '' : resource.source.file;
}

function isBelow(folder: string, file: string): boolean {
  return resolve(file).startsWith(folder + sep);
}

/** Formats `3 routes in force`, or `2 resources in force` for a file without routes. */
function counted(resources: readonly Resource[]): string {
  if (resources.length === 0) return 'nothing of it in force';
  const routes = resources.filter(
    ({ kind }) => kind === 'Mapping' || kind === 'ProxyConfig',
  ).length;
  const [count, noun] = routes > 0 ? [routes, 'route'] : [resources.length, 'resource'];
  return `${count} ${noun}${count === 1 ? '' : 's'} in force`;
}
