import { keepRemoved } from './kept.ts';
import { type Kept, type Stage, type Step, stageOf, withKept } from './make-before-break.ts';
import { NO_RESOURCES, type Resources, type Snapshot } from './snapshot.ts';

/** The way of one proxy to its snapshot. It is a value, and each change returns the next one. */
export type Transition = {
  /** What the proxy was served before. Undefined when it has just connected. */
  readonly from: Snapshot | undefined;
  readonly target: Snapshot;
  readonly step: Step;
  readonly stage: Stage;
  /** A newer target that came meanwhile. */
  readonly next: Snapshot | undefined;
  /** What earlier switches removed and requests may still need, the oldest first. */
  readonly kept: readonly Kept[];
};

/** Begins the way to `target`. */
export function begin(
  from: Snapshot | undefined,
  target: Snapshot,
  kept: readonly Kept[] = [],
): Transition {
  return staged({ from, target, step: 0, next: undefined, kept });
}

/**
 * Sets a newer target. It waits until the current switch is through. Otherwise changes that come
 * faster than their ACKs would keep routes from ever moving. Of several that wait the newest stays.
 * When the proxy has rejected some types, the current switch cannot end. The newer target then
 * replaces it, without the types in `rejected`.
 */
export function retarget(
  current: Transition,
  target: Snapshot,
  rejected: ReadonlySet<string>,
): Transition {
  if (rejected.size > 0) return begin(withoutRejected(current, rejected), target, current.kept);
  if (current.step === 2) return begin(current.target, target, current.kept);
  return { ...current, next: target };
}

/**
 * Ends the stage, because every type was ACKed or its time is up. The last stage stays. What the
 * switch removes is kept until it is released. That delays neither this switch nor the next one.
 */
export function advance(current: Transition): Transition {
  const { from, next, step, target } = current;
  if (step === 0) return staged({ ...current, step: 1 });
  if (step === 2) return next === undefined ? current : begin(target, next, current.kept);
  const kept = keepRemoved(current.kept, from, target);
  return next === undefined ? staged({ ...current, step: 2, kept }) : begin(target, next, kept);
}

/** Removes what one switch had removed, and what was kept for longer. */
export function release(current: Transition, kept: Kept): Transition {
  const index = current.kept.indexOf(kept);
  return index < 0 ? current : staged({ ...current, kept: current.kept.slice(index + 1) });
}

function staged(transition: Omit<Transition, 'stage'>): Transition {
  const { from, kept, step, target } = transition;
  return { ...transition, stage: withKept(stageOf(from, target, step), kept) };
}

/**
 * Returns what the proxy is served now, with the rejected types as they were before.
 * @returns undefined when that is unknown
 */
function withoutRejected(current: Transition, rejected: ReadonlySet<string>): Snapshot | undefined {
  if (current.from === undefined) return undefined;
  const served = new Map<string, Resources>(
    stageOf(current.from, current.target, current.step).snapshot,
  );
  for (const typeUrl of rejected) served.set(typeUrl, current.from.get(typeUrl) ?? NO_RESOURCES);
  return served;
}
