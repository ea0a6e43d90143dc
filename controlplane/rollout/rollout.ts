import type { Resource } from '#resources/resource.ts';

/** One resource that is to become another version, or to go (`to` undefined). */
export type Change = { readonly id: string; readonly to: Resource | undefined };

/**
 * A version that proxies refused: the document as it was read, undefined when its removal was
 * refused.
 */
export type Quarantined = { readonly to: Resource | undefined; readonly message: string };

export type Resources = ReadonlyMap<string, Resource>;

/**
 * What is being tried, on top of what is accepted: `first` all that is new; `control` nothing, to
 * see whether the base itself still stands; `search` a part of what was refused; `unproven` all
 * that is new although the base does not stand, since then no resource is to blame.
 */
export type Trial = {
  readonly stage: 'first' | 'control' | 'search' | 'unproven';
  readonly changes: readonly Change[];
  /** Change sets to try after this one, each on top of what was accepted by then. */
  readonly rest: readonly (readonly Change[])[];
};

/**
 * How new resources come into force. Envoy refuses a whole response and mostly names nothing, so a
 * refused set of changes is halved until the guilty resource is alone; that one is quarantined, the
 * innocent ones go on.
 */
export type Rollout = {
  /** Proven by every proxy that was there; the base of each trial. */
  readonly accepted: Resources;
  /** The newest that the operator wrote. */
  readonly wanted: Resources;
  readonly quarantined: ReadonlyMap<string, Quarantined>;
  readonly trial: Trial | undefined;
};

export function startRollout(accepted: Resources): Rollout {
  return { accepted, wanted: accepted, quarantined: new Map(), trial: undefined };
}

/** What is to be served now: the accepted resources with the changes of the trial on top. */
export function effective(rollout: Rollout): Resources {
  return rollout.trial === undefined
    ? rollout.accepted
    : apply(rollout.accepted, rollout.trial.changes);
}

/**
 * The operator wrote something new: everything that differs from the accepted becomes one trial,
 * replacing a running one. What is quarantined is tried again when its document was touched, also
 * when it says the same: the cause may have been elsewhere, as a port that was taken. (The parser
 * gives the very same object for a document that was not touched.)
 */
export function want(rollout: Rollout, wanted: Resources): Rollout {
  const quarantined = new Map(
    [...rollout.quarantined].filter(([id, refused]) => wanted.get(id) === refused.to),
  );
  const next = { ...rollout, wanted, quarantined };
  return { ...next, trial: trialOf('first', [difference(next)]) };
}

/** Every proxy that answered took what is served. */
export function accept(rollout: Rollout): Rollout {
  const { trial } = rollout;
  if (trial === undefined) return rollout;
  return {
    ...rollout,
    accepted: effective(rollout),
    trial: trialOf('search', trial.rest),
  };
}

/** A proxy refused what is served; `message` is its own. */
export function refuse(rollout: Rollout, message: string): Rollout {
  const { trial } = rollout;
  switch (trial?.stage) {
    case undefined:
    case 'unproven':
      return rollout;
    case 'first':
      return { ...rollout, trial: { stage: 'control', changes: [], rest: [trial.changes] } };
    case 'control':
      return { ...rollout, trial: { stage: 'unproven', changes: trial.rest.flat(), rest: [] } };
    case 'search':
      return narrow(rollout, trial, message);
  }
}

function narrow(rollout: Rollout, trial: Trial, message: string): Rollout {
  const { changes, rest } = trial;
  const [only, ...others] = changes;
  if (only !== undefined && others.length === 0) {
    const quarantined = new Map(rollout.quarantined).set(only.id, { to: only.to, message });
    return { ...rollout, quarantined, trial: trialOf('search', rest) };
  }
  const middle = Math.ceil(changes.length / 2);
  return {
    ...rollout,
    trial: trialOf('search', [changes.slice(0, middle), changes.slice(middle), ...rest]),
  };
}

function trialOf(stage: Trial['stage'], sets: readonly (readonly Change[])[]): Trial | undefined {
  const [changes, ...rest] = sets.filter(set => set.length > 0);
  return changes === undefined ? undefined : { stage, changes, rest };
}

/**
 * Accepted → wanted, without what is quarantined; in the order of ids, so that halving is the same
 * everywhere.
 */
function difference(rollout: Pick<Rollout, 'accepted' | 'wanted' | 'quarantined'>): Change[] {
  const { accepted, wanted, quarantined } = rollout;
  const ids = new Set([...accepted.keys(), ...wanted.keys()]);
  return [...ids]
    .filter(id => accepted.get(id)?.hash !== wanted.get(id)?.hash && !quarantined.has(id))
    .sort()
    .map(id => ({ id, to: wanted.get(id) }));
}

function apply(base: Resources, changes: readonly Change[]): Resources {
  const next = new Map(base);
  for (const { id, to } of changes) {
    if (to === undefined) next.delete(id);
    else next.set(id, to);
  }
  return next;
}
