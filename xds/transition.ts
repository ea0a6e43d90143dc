import { type Stage, type Step, stageOf } from './make-before-break.ts';
import { NO_RESOURCES, type Resources, type Snapshot } from './snapshot.ts';

/** The way of one proxy to its snapshot: a value; each change gives the next one. */
export type Transition = {
  /** What the proxy was served before; undefined: it has just come. */
  readonly from: Snapshot | undefined;
  readonly target: Snapshot;
  readonly step: Step;
  readonly stage: Stage;
  /** A newer target that came meanwhile. */
  readonly next: Snapshot | undefined;
};

/** Begins the way to `target`. */
export function begin(from: Snapshot | undefined, target: Snapshot): Transition {
  return at(from, target, 0, undefined);
}

/**
 * Sets a newer target. It waits until the switch under way is through: otherwise changes that come faster than they are ACKed would keep
 * routes from ever moving. Of several that wait the newest stays. When the proxy has `refused` some types, nothing will come of the switch
 * under way: the newer target replaces it, without what was refused.
 */
export function retarget(current: Transition, target: Snapshot, refused: ReadonlySet<string>): Transition {
  if (refused.size > 0) return begin(withoutRefused(current, refused), target);
  if (current.step === 2) return begin(current.target, target);
  return { ...current, next: target };
}

/** The stage is over: every type was ACKed, or its time is up. The last stage stays. */
export function advance(current: Transition): Transition {
  if (current.step === 0) return at(current.from, current.target, 1, current.next);
  if (current.step === 1 && current.next === undefined) return at(current.from, current.target, 2, undefined);
  return current.next === undefined ? current : begin(current.target, current.next);
}

function at(
  from: Snapshot | undefined,
  target: Snapshot,
  step: Step,
  next: Snapshot | undefined,
): Transition {
  return { from, target, step, stage: stageOf(from, target, step), next };
}

/** What the proxy is served now, with the refused types as they were before; undefined where that is not known. */
function withoutRefused(current: Transition, refused: ReadonlySet<string>): Snapshot | undefined {
  if (current.from === undefined) return undefined;
  const served = new Map<string, Resources>(current.stage.snapshot);
  for (const typeUrl of refused) served.set(typeUrl, current.from.get(typeUrl) ?? NO_RESOURCES);
  return served;
}
