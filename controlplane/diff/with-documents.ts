import { candidates } from '#controlplane/rollout/candidates.ts';
import { collect } from '#resources/parse/collect.ts';
import { EMPTY_FILE, type ParsedFile } from '#resources/parse/parsed-file.ts';
import type { Problem } from '#resources/problem.ts';
import {
  formatSource,
  type Rejected,
  type Resource,
  type ResourcesById,
} from '#resources/resource.ts';
import { suggest } from '#resources/words/suggest.ts';

/** What the proxies run, and what is closed. */
export type InForce = {
  readonly resources: ResourcesById;
  readonly closed: readonly Rejected[];
};

/** The change. */
export type Given = {
  readonly files: readonly ParsedFile[];
  /** Whether the files stand for all that is read from folders. What they lack is then removed. */
  readonly whole: boolean;
  /** Ids of resources that are removed. */
  readonly remove: readonly string[];
};

/**
 * Returns what would be in force with these documents. A document replaces the resource of its id,
 * wherever that stands. A rejected one leaves the last good version in force. Throws an Error about
 * an id that cannot be removed.
 */
export function withDocuments(
  inForce: InForce,
  { files: given, whole, remove }: Given,
): InForce & { readonly problems: readonly Problem[] } {
  const files = given.map(file => withKnownValues(file, inForce));
  const removed = new Set(remove);
  const written = files.flatMap(file => [...file.resources, ...file.rejected]);
  checkRemoved(removed, inForce, written);
  // What a broken file was about is unknown. So nothing counts as removed.
  const isSure = files.every(each => each.emptied || (each.readable && !each.anonymous));
  const emptied = new Set(files.flatMap(each => (each.emptied ? each.file : [])));
  const named = new Set(written.map(({ id }) => id));
  const stays = ({ id, source }: Resource | Rejected) =>
    !named.has(id) &&
    !removed.has(id) &&
    !(whole && isSure && source.line > 0 && !emptied.has(source.file));
  const rest = [...inForce.resources.values()].filter(stays);
  const { problems, ...collected } = collect([...files, { ...EMPTY_FILE, resources: rest }]);
  // What a broken file held is in `rest` already.
  const sure = { ...collected, unreadable: new Set<string>(), anonymous: new Set<string>() };
  const next = candidates(sure, inForce.resources);
  return {
    resources: next.resources,
    closed: [...inForce.closed.filter(stays), ...next.closed],
    problems: [...problems, ...next.problems],
  };
}

/** Values of a Secret that are elsewhere are those in force, where it is written as before. */
function withKnownValues(file: ParsedFile, inForce: InForce): ParsedFile {
  const resources = file.resources.map(resource => {
    const known = inForce.resources.get(resource.id);
    if (known?.kind !== 'Secret' || known.writtenHash !== resource.hash) return resource;
    return { ...known, source: resource.source };
  });
  return { ...file, resources };
}

function checkRemoved(
  remove: ReadonlySet<string>,
  { resources, closed }: InForce,
  written: readonly (Resource | Rejected)[],
): void {
  const kept = written.find(({ id }) => remove.has(id));
  if (kept !== undefined)
    throw new Error(
      `${placeOf(kept)} cannot be both removed and given: take it out of the file, or go without --delete`,
    );
  const ids = new Set([...resources.keys(), ...closed.map(({ id }) => id)]);
  const unknown = [...remove].find(id => !ids.has(id));
  if (unknown === undefined) return;
  throw new Error(
    `no resource ${JSON.stringify(unknown)} is in force${suggest(unknown, [...ids]) || ': want kind, namespace and name, for example Mapping/default/user'}`,
  );
}

/** Formats the place of a resource for a message. */
export function placeOf({ id, source }: Resource | Rejected): string {
  const where = formatSource(source);
  return where === '' ? id : `${id} (${where})`;
}
