import { problemOf } from '#controlplane/compile/problem-of.ts';
import { SINGLETONS } from '#resources/kinds/known-kinds.ts';
import { problemAt } from '#resources/parse/parsed-file.ts';
import { uncoveredPart } from '#resources/parse/uncovered-part.ts';
import type { Problem } from '#resources/problem.ts';
import type { Rejected, Resource, ResourcesById } from '#resources/resource.ts';
import { openedResources } from './lost-rules.ts';
import { closedResource, lostRuleProblem } from './problems.ts';

/** The contents of all files, before any proxy has received them. */
export type Written = {
  readonly resources: ResourcesById;
  readonly rejected: ReadonlyMap<string, Rejected>;
  /** Files that could not be parsed far enough to identify their resources. */
  readonly unreadable: ReadonlySet<string>;
  /** Files with an erroneous document whose resource is unknown or uncertain. */
  readonly anonymous: ReadonlySet<string>;
  /** Those of `anonymous` that have no byte. */
  readonly emptied?: ReadonlySet<string>;
};

/** What is to be brought into force. */
export type Candidates = {
  readonly resources: ResourcesById;
  /**
   * Rejected resources without a last good version, and what a rejected FilterPolicy covers beyond
   * its own. What they cover is closed.
   */
  readonly closed: readonly Rejected[];
  /** Ids that stay in force in an older version than the written one. */
  readonly kept: ReadonlySet<string>;
  /** Unreadable files without anything in force. What they were about is unknown. */
  readonly unknown: readonly string[];
  /** Why a last good version does not stay in force. */
  readonly problems: readonly Problem[];
};

/**
 * Returns what is written, with the last good version of what is rejected or partial, and of what a
 * broken file may have held (docs/adr/0002-closed-or-last-good.md).
 */
export function candidates(written: Written, lastGood: ResourcesById): Candidates {
  const { anonymous, rejected, unreadable } = written;
  const isWhole = written.resources.values().every(({ partial }) => partial !== true);
  if (isWhole && anonymous.size + rejected.size + unreadable.size === 0)
    return { resources: written.resources, closed: [], kept: new Set(), unknown: [], problems: [] };
  const resources = new Map(written.resources);
  const kept = new Set<string>();
  // The likely resources of a document without a name. It must not close what they cover.
  const found: Resource[] = [];
  for (const [id, good] of lastGood) {
    const { file } = good.source;
    const lost = !resources.has(id) && (unreadable.has(file) || anonymous.has(file));
    const isPart = resources.get(id)?.partial === true && good.partial !== true;
    if (!lost && !rejected.has(id) && !isPart) continue;
    resources.set(id, good);
    kept.add(id);
    if (lost) found.push(good);
  }
  const staying = [...kept].flatMap(id => resources.get(id) ?? []);
  const outdone = staying.flatMap(good => othersLike(good, resources, kept));
  for (const { other } of outdone) resources.delete(other.id);
  const opened = openedResources(staying, resources, [lastGood]);
  for (const { resource } of opened) {
    resources.delete(resource.id);
    kept.delete(resource.id);
  }
  const likelyOf = Map.groupBy(found, placeOf);
  const inForce = new Set([...resources.values()].map(resource => resource.source.file));
  return {
    resources,
    closed: [
      ...[...rejected.values()].flatMap(item => {
        const good = item.name === '' ? likelyOf.get(placeOf(item)) : resources.get(item.id);
        return uncoveredBy([good ?? []].flat(), item) ?? [];
      }),
      ...opened.flatMap(({ resource }) =>
        rejected.has(resource.id) ? [] : closedResource(resource),
      ),
      ...outdone.flatMap(({ other }) => (other.unserved ? closedResource(other) : [])),
    ],
    kept,
    unknown: [...unreadable].filter(file => !inForce.has(file)).sort(),
    problems: [
      ...opened.map(({ resource, rule }) =>
        lostRuleProblem(rejected.get(resource.id) ?? resource, rule),
      ),
      ...outdone.map(outdoneProblem),
      ...emptiedProblems(found, written.emptied),
    ],
  };
}

type Outdone = { readonly other: Resource; readonly good: Resource };

/** A typo must not hand the place of the only one of a kind to another, which may restrict less. */
function othersLike(
  good: Resource,
  resources: ResourcesById,
  kept: ReadonlySet<string>,
): readonly Outdone[] {
  if (!SINGLETONS.has(good.kind)) return [];
  return [...resources.values()]
    .filter(({ id, kind }) => kind === good.kind && !kept.has(id))
    .map(other => ({ other, good }));
}

function outdoneProblem({ good: { kind, name, namespace }, other }: Outdone): Problem {
  const message = `there is one ${kind} for a gateway, and the last good version of ${namespace}/${name} is in force. Remove one`;
  return problemOf(other, 'error', 'metadata.name', message);
}

/** A policy must not be lost with a save on a full disk, which leaves a file without a byte. */
function emptiedProblems(
  kept: readonly Resource[],
  emptied: ReadonlySet<string> = new Set(),
): readonly Problem[] {
  const files = new Set(kept.map(({ source }) => source.file));
  const problem = { ...problemAt(1, EMPTIED), severity: 'warning' } as const;
  return [...files.intersection(emptied)].map(file => ({ ...problem, file }));
}

const EMPTIED =
  'it is empty, as a save on a full disk leaves it. Resources that it had stay in force. Write them again, or remove the file';

/** Returns what is left to close of a rejected resource beside these, which stand for it. */
function uncoveredBy(inForce: readonly Resource[], item: Rejected): Rejected | undefined {
  return inForce.reduce<Rejected | undefined>(
    (rest, each) => rest && uncoveredPart(rest, each),
    item,
  );
}

function placeOf({ kind, source: { file } }: Resource | Rejected): string {
  return `${kind} in ${file}`;
}
