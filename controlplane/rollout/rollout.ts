import type { Resource, ResourcesById } from '#resources/resource.ts';
import { compareText } from '#resources/words/order.ts';
import { remembered } from '#xds/remembered.ts';
import { type Opened, openedResources } from './lost-rules.ts';
import { asksFor, mayPass, portsIn } from './taken-ports.ts';

/** One resource that is to change to another version, or to be removed (`to` undefined). */
export type Change = { readonly id: string; readonly to: Resource | undefined };

/**
 * A version that proxies rejected, as the document that was read. It is undefined when its removal
 * was rejected.
 */
export type Quarantined = { readonly to: Resource | undefined; readonly message: string };

/**
 * What is tried, on top of what is accepted.
 * - `first`: all that is new.
 * - `control`: nothing, to see whether the base itself still works. At first it has all but what
 *   asks for a port that is taken, or what is never stored, as it was before a start.
 * - `search`: a part of what was rejected.
 * - `unproven`: all that is new although the base fails, since then no resource is to blame.
 */
export type Trial = {
  readonly stage: 'first' | 'control' | 'search' | 'unproven';
  readonly changes: readonly Change[];
  /** Change sets to try after this one, each on top of what is accepted by then. */
  readonly rest: readonly (readonly Change[])[];
  /** Of `unproven`, and of `first` after it: the message that the base was rejected with. */
  readonly base?: string;
};

/**
 * How new resources come into force. Envoy rejects a whole response and mostly names nothing. So a
 * rejected set of changes is halved until the guilty resource is alone. It is quarantined, and the
 * others go on.
 */
export type Rollout = {
  /** Accepted by every proxy that was connected. The base of each trial. */
  readonly accepted: ResourcesById;
  /** The newest version of what the operator wrote. */
  readonly wanted: ResourcesById;
  readonly quarantined: ReadonlyMap<string, Quarantined>;
  readonly trial: Trial | undefined;
  /**
   * What was in force when the trials began, and what was wanted since then. A part of a change may
   * take a rule from a Mapping or a route that the whole moves elsewhere. So what is served is as
   * closed as one of these.
   */
  readonly versions: readonly ResourcesById[];
};

/** Edits that come during trials add up to this many versions. */
const MOST_VERSIONS = 8;

export function startRollout(lastGood: ResourcesById): Rollout {
  const accepted = byId(lastGood);
  return { accepted, wanted: accepted, quarantined: new Map(), trial: undefined, versions: [] };
}

/**
 * Returns what is to be served now, by id: the accepted resources with the changes of the trial on
 * top, without what this would open.
 */
export function effective(rollout: Rollout): ResourcesById {
  return servedBy(rollout).resources;
}

/** Returns what is not served because a rule for it is not. */
export function opened(rollout: Rollout): readonly Opened[] {
  return servedBy(rollout).opened;
}

/** Returns what all proxies have accepted, without what this would open. */
export function proven(rollout: Rollout): ResourcesById {
  const trial: Trial = { stage: 'search', changes: [], rest: [] };
  return effective(rollout.trial === undefined ? rollout : { ...rollout, trial });
}

type Served = { readonly resources: ResourcesById; readonly opened: readonly Opened[] };

/** It is made once for each rollout. */
function servedBy(rollout: Rollout): Served {
  const known = served.get(rollout) ?? serve(rollout);
  served.set(rollout, known);
  return known;
}

const served = new WeakMap<Rollout, Served>();

function serve(rollout: Rollout): Served {
  const { quarantined, trial, versions } = rollout;
  const resources = withTrial(rollout);
  const isWhole = quarantined.size === 0 && (trial === undefined || trial.stage === 'first');
  const opened = isWhole ? [] : openedResources(resources.values(), resources, versions);
  const removals = opened.map(({ resource: { id } }) => ({ id, to: undefined }));
  return { resources: opened.length === 0 ? resources : apply(resources, removals), opened };
}

/** What is served becomes what is accepted, and thousands of resources are not copied twice. */
const withTrial = remembered(
  ({ accepted, trial }: Rollout): ResourcesById =>
    trial === undefined ? accepted : apply(accepted, trial.changes),
);

/**
 * Starts a trial of all that differs from the accepted resources. It replaces a running trial, but
 * a search goes on after what is new. A quarantined version is tried again when its document was
 * touched, even if its text is equal. The cause may have been elsewhere, such as an occupied port.
 * The parser returns the very same object for a document that was not touched.
 */
export function want(rollout: Rollout, wanted: ResourcesById): Rollout {
  const quarantined = new Map(
    [...rollout.quarantined].filter(([id, rejected]) => wanted.get(id) === rejected.to),
  );
  const isResting = rollout.trial === undefined;
  const accepted = asWritten(isResting ? effective(rollout) : rollout.accepted, wanted);
  const versions = [...(isResting ? [accepted] : rollout.versions), wanted].slice(-MOST_VERSIONS);
  const next = { ...rollout, accepted, wanted, quarantined, versions };
  return { ...next, trial: trialAfter(rollout.trial, difference(next)) };
}

/**
 * Returns the trial that follows one when `all` differs from the accepted resources. Edits in a row
 * would have a search begin again and again, so what it is about stays apart from what is new.
 */
function trialAfter(trial: Trial | undefined, all: readonly Change[]): Trial | undefined {
  const searched = trial?.stage === 'control' || trial?.stage === 'search' ? trial : undefined;
  const newest = new Map(all.map(change => [change.id, change]));
  const sets = [searched?.changes ?? [], ...(searched?.rest ?? [])].map(set =>
    set.flatMap(({ id, to }) => {
      const change = newest.get(id);
      return change === undefined || change.to?.hash !== to?.hash ? [] : [change];
    }),
  );
  const before = new Set(sets.flat().map(({ id }) => id));
  if (searched === undefined || before.size === 0) return firstAfter(trial, all);
  const others = all.filter(({ id }) => !before.has(id));
  const [changes = [], ...rest] = sets;
  return searched.stage === 'control'
    ? { stage: 'control', changes, rest: [others, ...rest] }
    : trialOf('search', [others, ...sets]);
}

function firstAfter(trial: Trial | undefined, all: readonly Change[]): Trial | undefined {
  const first = trialOf('first', [all]);
  return first && trial?.base !== undefined ? { ...first, base: trial.base } : first;
}

/**
 * Returns the accepted resources, each with the place where the same version is written now. After
 * a restart it is known without its place in a file.
 */
function asWritten(accepted: ResourcesById, wanted: ResourcesById): ResourcesById {
  const moved: [string, Resource][] = [];
  for (const [id, resource] of wanted) {
    const same = accepted.get(id);
    if (same !== undefined && same !== resource && same.hash === resource.hash)
      moved.push([id, resource]);
  }
  return moved.length === 0 ? accepted : new Map([...accepted, ...moved]);
}

/**
 * Starts a trial of each quarantined version whose cause may be over. It is in quarantine until
 * proxies take it. One with a last good version is not tried, since that would stop for a moment at
 * proxies that can take the other. A running trial goes on alone.
 */
export function tryAgain(rollout: Rollout): Rollout {
  const sets = triable(rollout).map(id => [{ id, to: rollout.quarantined.get(id)?.to }]);
  if (rollout.trial !== undefined || sets.length === 0) return rollout;
  return { ...rollout, trial: trialOf('search', sets) };
}

/** Returns the ids that `tryAgain` would try. */
export function triable({ accepted, quarantined }: Rollout): readonly string[] {
  return [...quarantined]
    .filter(([id, { message }]) => !accepted.has(id) && mayPass(message))
    .map(([id]) => id);
}

/** Records that every proxy that answered accepted what is served. */
export function accept(rollout: Rollout): Rollout {
  const { quarantined, trial } = rollout;
  if (trial === undefined) return rollout;
  const taken = new Set(trial.changes.map(({ id }) => id));
  return {
    ...rollout,
    accepted: withTrial(rollout),
    quarantined: new Map([...quarantined].filter(([id]) => !taken.has(id))),
    trial: trialOf('search', trial.rest),
  };
}

/** Records that a proxy rejected what is served. `message` is the proxy's own. */
export function refuse(rollout: Rollout, message: string): Rollout {
  const { trial } = rollout;
  switch (trial?.stage) {
    case undefined:
    case 'unproven':
      return rollout;
    case 'first':
      return { ...rollout, trial: controlOf(trial, rollout, message) };
    case 'control':
      return { ...rollout, trial: withoutControl(trial, rollout, message) };
    case 'search':
      return narrow(rollout, trial, message);
  }
}

/**
 * Whoever asks for the port that is taken is to blame. The others need not go meanwhile, and none
 * has to while the base is rejected as before.
 */
function controlOf(trial: Trial, rollout: Rollout, message: string): Trial {
  if (message === trial.base) return { ...trial, stage: 'unproven' };
  const { changes } = trial;
  const ports = portsIn(message);
  const others = changes.filter(({ to }) => to === undefined || !asksFor(to, ports));
  return others.length < changes.length
    ? control(changes, others)
    : control(changes, secretsIn(changes, rollout));
}

/** The guess was wrong, or what was never stored is to blame. So the base is tried with less. */
function withoutControl({ changes, rest }: Trial, rollout: Rollout, message: string): Trial {
  const all = [...changes, ...rest.flat()];
  const secrets = secretsIn(all, rollout);
  if (changes.length > secrets.length) return control(all, secrets);
  return changes.length > 0
    ? control(all, [])
    : { stage: 'unproven', changes: all, rest: [], base: message };
}

function control(all: readonly Change[], changes: readonly Change[]): Trial {
  const tried = new Set(changes);
  return { stage: 'control', changes, rest: [all.filter(change => !tried.has(change))] };
}

/**
 * Returns what is never stored. Without its Secrets the base would have no certificate, and no Host
 * would answer by TLS.
 */
function secretsIn(changes: readonly Change[], { accepted }: Rollout): readonly Change[] {
  return changes.filter(
    ({ id, to }) => to !== undefined && to.document === undefined && !accepted.has(id),
  );
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
 * Returns the changes from accepted to wanted, without quarantined ones. They are in the order of
 * ids, so that halving is the same everywhere.
 */
function difference(rollout: Pick<Rollout, 'accepted' | 'wanted' | 'quarantined'>): Change[] {
  const { accepted, wanted, quarantined } = rollout;
  const ids: string[] = [];
  for (const [id, resource] of wanted) {
    const before = accepted.get(id);
    if (before !== resource && before?.hash !== resource.hash) ids.push(id);
  }
  for (const id of accepted.keys()) if (!wanted.has(id)) ids.push(id);
  return ids
    .filter(id => !quarantined.has(id))
    .sort()
    .map(id => ({ id, to: wanted.get(id) }));
}

function apply(base: ResourcesById, changes: readonly Change[]): ResourcesById {
  const next = new Map(base);
  for (const { id, to } of changes) {
    if (to === undefined) next.delete(id);
    else next.set(id, to);
  }
  // A changed resource keeps its place, and a new one is at the end.
  return changes.some(({ id }) => !base.has(id)) ? byId(next) : next;
}

/** In this order what is made of it need not be sorted again for each edit. */
function byId(resources: ResourcesById): ResourcesById {
  return new Map([...resources].sort(([a], [b]) => compareText(a, b)));
}
