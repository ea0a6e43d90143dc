import {
  CLUSTER,
  CLUSTER_LOAD_ASSIGNMENT,
  LISTENER,
  ROUTE_CONFIGURATION,
  SECRET,
} from '#protos/type-url.ts';
import { NO_RESOURCES, type Resources, type Snapshot } from './snapshot.ts';

/** What a proxy is served for a while: an ordinary snapshot, and what is not said about it yet. */
export type Stage = {
  readonly snapshot: Snapshot;
  /**
   * Types of which nothing is reported as removed: the proxy may use resources from before its
   * stream.
   */
  readonly keep: ReadonlySet<string>;
  /** Types that are not answered yet. */
  readonly silent: ReadonlySet<string>;
};

/** What a proxy keeps although its target is without it: a request may hold a route from before. */
export type Kept = {
  /** Undefined: whatever the proxy has from before its stream. */
  readonly resources: Snapshot | undefined;
};

/** What routes and listeners depend on: added before them, removed after them. */
export const DEPENDENCIES: ReadonlySet<string> = new Set([
  CLUSTER,
  CLUSTER_LOAD_ASSIGNMENT,
  SECRET,
]);
const DEPENDENTS: ReadonlySet<string> = new Set([LISTENER, ROUTE_CONFIGURATION]);
const ALL: ReadonlySet<string> = new Set([...DEPENDENCIES, ...DEPENDENTS]);
const NONE: ReadonlySet<string> = new Set();

/** Stages are numbered: 0 makes what is new, 1 switches to it, 2 breaks what is old. */
export type Step = 0 | 1 | 2;

/**
 * One stage of the way of a proxy from the snapshot `from` (undefined: it has just come) to
 * `target`: 0: clusters, endpoints and secrets of both (the target's win), listeners and routes of
 * `from`; 1: the same, with listeners and routes of both (the target's win); 2: the target. Each
 * may begin when the proxy has ACKed the one before, so that no route that it holds names a cluster
 * it has not, and no listener goes before the one in its place was taken: its port may be
 * another's. Source: Envoy's "xDS REST and gRPC protocol", Eventual consistency considerations.
 */
export function stageOf(from: Snapshot | undefined, target: Snapshot, step: Step): Stage {
  if (step === 2) return { snapshot: target, keep: NONE, silent: NONE };
  const snapshot = new Map(target);
  for (const typeUrl of DEPENDENCIES) place(snapshot, typeUrl, union([from], target, typeUrl));
  if (step === 1) {
    for (const typeUrl of DEPENDENTS) place(snapshot, typeUrl, union([from], target, typeUrl));
    return { snapshot, keep: from === undefined ? ALL : NONE, silent: NONE };
  }
  for (const typeUrl of DEPENDENTS) place(snapshot, typeUrl, from?.get(typeUrl) ?? NO_RESOURCES);
  if (from === undefined) return { snapshot, keep: ALL, silent: DEPENDENTS };
  return { snapshot, keep: NONE, silent: NONE };
}

/** The stage with what requests on their way may still need. What the stage itself has wins. */
export function withKept(stage: Stage, kept: readonly Kept[]): Stage {
  if (kept.length === 0) return stage;
  const snapshot = new Map(stage.snapshot);
  const older = kept.map(({ resources }) => resources);
  for (const typeUrl of DEPENDENCIES)
    place(snapshot, typeUrl, union(older, stage.snapshot, typeUrl));
  if (!older.includes(undefined)) return { ...stage, snapshot };
  return { ...stage, snapshot, keep: new Set([...stage.keep, ...DEPENDENCIES]) };
}

/**
 * The resources of all; where several have a name, that of the newest. The target is the newest.
 */
function union(
  older: readonly (Snapshot | undefined)[],
  target: Snapshot,
  typeUrl: string,
): Resources {
  const newer = target.get(typeUrl) ?? NO_RESOURCES;
  const others = older.map(each => each?.get(typeUrl) ?? NO_RESOURCES);
  // Equal content stays the same object, so that its version need not be computed again.
  if (others.every(each => [...each.keys()].every(name => newer.has(name)))) return newer;
  return new Map([...others, newer].flatMap(each => [...each]));
}

function place(snapshot: Map<string, Resources>, typeUrl: string, resources: Resources): void {
  if (resources.size > 0) snapshot.set(typeUrl, resources);
  else snapshot.delete(typeUrl);
}
