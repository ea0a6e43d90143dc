import {
  CLUSTER,
  CLUSTER_LOAD_ASSIGNMENT,
  LISTENER,
  ROUTE_CONFIGURATION,
  SECRET,
  VIRTUAL_HOST,
} from '#protos/type-url.ts';
import { remembered } from './remembered.ts';
import { NO_RESOURCES, type Resources, type Snapshot } from './snapshot.ts';

/**
 * What a proxy is served for a while. It is an ordinary snapshot, with what is not said about it
 * yet.
 */
export type Stage = {
  readonly snapshot: Snapshot;
  /** Types of which no removal is reported. The proxy may use resources from before its stream. */
  readonly keep: ReadonlySet<string>;
  /** Types that are not answered yet. */
  readonly silent: ReadonlySet<string>;
};

/** What a proxy keeps although its target lacks it. A request in flight may hold an older route. */
export type Kept = {
  /** Undefined: all that the proxy has from before its stream. */
  readonly resources: Snapshot | undefined;
};

/** What routes and listeners depend on. It is added before them and removed after them. */
export const DEPENDENCIES: ReadonlySet<string> = new Set([
  CLUSTER,
  CLUSTER_LOAD_ASSIGNMENT,
  SECRET,
]);
const DEPENDENTS: ReadonlySet<string> = new Set([LISTENER, ROUTE_CONFIGURATION, VIRTUAL_HOST]);
const ALL: ReadonlySet<string> = new Set([...DEPENDENCIES, ...DEPENDENTS]);
const NONE: ReadonlySet<string> = new Set();

/** Stage 0 makes what is new, 1 switches to it, and 2 breaks what is old. */
export type Step = 0 | 1 | 2;

/**
 * Returns one stage of the way of a proxy from the snapshot `from` to `target`. `from` is undefined
 * for a proxy that has just connected.
 * - 0: clusters, endpoints and secrets of both, listeners and routes of `from`.
 * - 1: the same, with listeners and routes of both.
 * - 2: the target.
 * Where both have a name, the target's resource wins. Each stage may begin when the proxy has ACKed
 * the one before. So every cluster that a route names exists. A listener goes only after the new
 * one in its place was accepted, because its port may now belong to another.
 * See Envoy's "xDS REST and gRPC protocol", Eventual consistency considerations.
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

/** Adds what requests in flight may still need. What the stage itself has wins. */
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
 * Merges the resources of all. Where several have a name, the newest wins. The target is the
 * newest.
 */
function union(
  older: readonly (Snapshot | undefined)[],
  target: Snapshot,
  typeUrl: string,
): Resources {
  // What is kept is small, so it comes first.
  return [...older, target]
    .map(each => each?.get(typeUrl) ?? NO_RESOURCES)
    .reduce((all, newer) => merged(all, newer));
}

/**
 * Several stages merge the same resources. They share the result, and so what is told of it. Equal
 * content stays the same object, so that its version need not be computed again.
 */
const merged = remembered((older: Resources, newer: Resources): Resources => {
  if (older === newer || hasAll(newer, older)) return newer;
  const all = new Map(older);
  for (const [name, resource] of newer) all.set(name, resource);
  return all;
});

function hasAll(resources: Resources, names: Resources): boolean {
  for (const name of names.keys()) if (!resources.has(name)) return false;
  return true;
}

function place(snapshot: Map<string, Resources>, typeUrl: string, resources: Resources): void {
  if (resources.size > 0) snapshot.set(typeUrl, resources);
  else snapshot.delete(typeUrl);
}
