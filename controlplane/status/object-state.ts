import { concerns } from '#controlplane/compile/tls/tls-secrets.ts';
import type { ConditionValue } from '#controlplane/gateway-api/condition.ts';
import type { Written } from '#controlplane/rollout/candidates.ts';
import { closedResource } from '#controlplane/rollout/problems.ts';
import { effective, type Rollout } from '#controlplane/rollout/rollout.ts';
import { secretReferences } from '#resources/kubernetes/secret-references.ts';
import type { ServedObject } from '#resources/kubernetes/served-object.ts';
import type { Problem } from '#resources/problem.ts';
import type { Rejected, Resource, ResourcesById } from '#resources/resource.ts';
import { reachable, textOf } from './conditions.ts';
import { placeOf, type ResourceState, resourceStates, unservedState } from './resource-state.ts';

/**
 * The state of a Kubernetes object: whether all of it can be served, and whether the proxies run
 * it.
 */
export type ObjectState = {
  readonly accepted: ConditionValue;
  readonly programmed: ConditionValue;
  /** Whether its requests reach their service, as far as the proxies tell. */
  readonly reachable: ConditionValue;
  readonly problems: readonly Problem[];
};

export type ObjectFacts = {
  readonly written: Written;
  readonly rollout: Rollout;
  readonly problems: readonly Problem[];
  /** Those of the Problems that the compiler found between resources. */
  readonly compiled: readonly Problem[];
  /** Ids of resources that a service has received and reports as not working at all. */
  readonly outOfService: ReadonlySet<string>;
  /** Whether a proxy is connected to this control plane. */
  readonly proxies: boolean;
};

/**
 * Returns the function that gives the state of objects.
 * @returns undefined for an object of another gateway
 */
export function objectStates(
  facts: ObjectFacts,
): (object: ServedObject) => ObjectState | undefined {
  const byPlace = Map.groupBy(facts.problems, placeOf);
  const ofSecrets = Map.groupBy(
    facts.problems.filter(({ kind }) => kind === 'Secret'),
    ({ namespace, name }) => `${namespace}/${name}`,
  );
  const served = effective(facts.rollout);
  const stateOf = resourceStates({ ...facts, kept: new Set() });
  return ({ parsed, name, namespace }) => {
    const item = parsed.resources[0] ?? parsed.rejected[0];
    if (item === undefined) return undefined;
    const own = byPlace.get(placeOf({ kind: item.kind, namespace, name, file: parsed.file })) ?? [];
    const problems = [...own, ...problemsOfSecrets(item, ofSecrets)];
    const conditions = conditionsOf(item, { ...facts, served, stateOf, problems });
    return { ...conditions, reachable: reachable(problems), problems };
  };
}

/** A Secret has no status. The objects that name it carry its Problems. */
function problemsOfSecrets(
  item: Resource | Rejected,
  problems: ReadonlyMap<string, readonly Problem[]>,
): readonly Problem[] {
  const names = 'spec' in item ? [...secretReferences([item]).keys()] : [];
  return names.flatMap(name =>
    (problems.get(name) ?? [])
      .filter(problem => concerns(problem, item))
      .map(({ field: _, ...problem }) => ({
        ...problem,
        message: `Secret ${name}: ${problem.message}`,
      })),
  );
}

type ItemFacts = ObjectFacts & {
  readonly served: ResourcesById;
  readonly stateOf: (resource: Resource) => ResourceState;
};

function conditionsOf(
  item: Resource | Rejected,
  facts: ItemFacts,
): Pick<ObjectState, 'accepted' | 'programmed'> {
  const { written, rollout, served, stateOf, problems } = facts;
  const errors = problems.filter(({ severity }) => severity === 'error').map(textOf);
  const why = errors.join('. ');
  if (!('spec' in item)) {
    return {
      accepted: no('Invalid', why),
      programmed: served.has(item.id) ? LAST_GOOD : unserved(item),
    };
  }
  if (written.resources.get(item.id) !== item) {
    return {
      accepted: no('Conflicted', why),
      programmed: no('Conflicted', 'Another resource is in force'),
    };
  }
  const quarantined = rollout.quarantined.get(item.id);
  if (quarantined !== undefined) {
    const { reason } = stateOf(item) === 'last good' ? LAST_GOOD : unserved(closedResource(item));
    const rejection = `A proxy rejects it: ${quarantined.message.trim()}`;
    return { accepted: no('RefusedByProxy', why), programmed: no(reason, rejection) };
  }
  const accepted =
    errors.length > 0 ? no('Problems', why) : said('True', 'Accepted', 'All of it is served');
  const inForce = served.get(item.id);
  if (item.partial === true && inForce !== undefined && inForce.partial !== true)
    return { accepted, programmed: LAST_GOOD };
  const state = stateOf(item);
  if (state === 'out of service') {
    const reason = why === '' ? problems.map(textOf).join('. ') : why;
    return { accepted, programmed: no('OutOfService', reason) };
  }
  if (state === 'closed') return { accepted, programmed: no('Closed', why) };
  return { accepted, programmed: programmed(item, facts) };
}

/**
 * Acceptance is known by content, not by version. An edit that changes nothing needs no new answer.
 */
function programmed(item: Resource, { rollout, proxies }: ObjectFacts): ConditionValue {
  if (rollout.accepted.get(item.id)?.hash === item.hash)
    return said('True', 'Programmed', 'The proxies have accepted it');
  return said(
    'Unknown',
    'Pending',
    proxies
      ? 'The proxies have not answered yet'
      : 'No proxy is connected to the control plane that writes this',
  );
}

const LAST_GOOD = no('LastGood', 'An older version of it, which had no error, stays in force');
const CLOSED = no('Closed', 'It is left out, and what it is known to cover is closed');
const LEFT_OUT = no('OutOfService', 'It is left out, and has no effect');

function unserved(rejected: Rejected): ConditionValue {
  return unservedState(rejected) === 'closed' ? CLOSED : LEFT_OUT;
}

function said(status: ConditionValue['status'], reason: string, message: string): ConditionValue {
  return { status, reason, message };
}

function no(reason: string, message: string): ConditionValue {
  return said('False', reason, message);
}
