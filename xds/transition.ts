import { keepRemoved } from './kept.ts';
import { type Kept, type Stage, type Step, stageOf, withKept } from './make-before-break.ts';
import { remembered } from './remembered.ts';
import { NO_RESOURCES, type Resources, type Snapshot } from './snapshot.ts';

/**
 * The way of one proxy to its snapshot. It is a value, and each change returns the next one.
 * Proxies that go the same way share each of these values, so a step costs a fleet no more than it
 * costs one proxy.
 */
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

const NOTHING_KEPT: readonly Kept[] = [];
/** Stands for what a proxy had before its stream, which is unknown. */
const UNKNOWN: Snapshot = new Map();

/** Begins the way to `target`. */
export function begin(
  from: Snapshot | undefined,
  target: Snapshot,
  kept: readonly Kept[] = NOTHING_KEPT,
): Transition {
  return begun(from ?? UNKNOWN, target, kept);
}

const begun = remembered((from: Snapshot, target: Snapshot, kept: readonly Kept[]) =>
  staged({ from: from === UNKNOWN ? undefined : from, target, step: 0, next: undefined, kept }),
);

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
  return followed(current, target);
}

const followed = remembered((current: Transition, next: Snapshot) => ({ ...current, next }));

/**
 * Ends the stage, because every type was ACKed or its time is up. The last stage stays. What the
 * switch removes is kept until it is released. That delays neither this switch nor the next one.
 */
export function advance(current: Transition): Transition {
  return advanced(current);
}

const advanced = remembered((current: Transition): Transition => {
  const { from, next, step, target } = current;
  if (step === 0) return staged({ ...current, step: 1 });
  if (step === 2) return next === undefined ? current : begin(target, next, current.kept);
  const kept = keepRemoved(current.kept, from, target);
  return next === undefined ? staged({ ...current, step: 2, kept }) : begin(target, next, kept);
});

/** Removes what one switch had removed, and what was kept for longer. */
export function release(current: Transition, kept: Kept): Transition {
  const index = current.kept.indexOf(kept);
  return index < 0 ? current : released(current, kept);
}

const released = remembered((current: Transition, last: Kept): Transition => {
  const kept = current.kept.slice(current.kept.indexOf(last) + 1);
  return staged({ ...current, kept: kept.length === 0 ? NOTHING_KEPT : kept });
});

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
  const known = snapshotsWithout(current);
  const key = JSON.stringify([...rejected].sort());
  const snapshot = known.get(key) ?? makeWithout(current, current.from, rejected);
  known.set(key, snapshot);
  return snapshot;
}

const snapshotsWithout = remembered((_current: Transition) => new Map<string, Snapshot>());

function makeWithout(current: Transition, from: Snapshot, rejected: ReadonlySet<string>): Snapshot {
  const served = new Map<string, Resources>(stageOf(from, current.target, current.step).snapshot);
  for (const typeUrl of rejected) served.set(typeUrl, from.get(typeUrl) ?? NO_RESOURCES);
  return served;
}
