import { isDeepStrictEqual } from 'node:util';
import type { ConditionValue } from '#controlplane/gateway-api/condition.ts';
import type { ServedObject } from '#resources/kubernetes/served-object.ts';
import type { Problem } from '#resources/problem.ts';
import { type Fields, isFields } from '#resources/words/fields.ts';
import { type Condition, cut, fieldsIn, stamp } from './conditions.ts';
import type { ObjectState } from './object-state.ts';

export type ObjectStatus = {
  readonly observedGeneration: number;
  readonly conditions: readonly unknown[];
  readonly problems: readonly Pick<Problem, 'severity' | 'field' | 'message'>[];
};

const LONGEST_PROBLEM = 1_000;
const MOST_PROBLEMS = 50;

/**
 * Returns the status that an object should have. Conditions of other writers stay. A missing answer
 * of a proxy changes nothing where another control plane has its proxies' answer to this
 * generation. `now` is in milliseconds since the epoch.
 * @returns undefined when the object has that status
 */
export function objectStatus(
  object: ServedObject,
  { accepted, programmed, problems, reachable }: ObjectState,
  now: number,
): ObjectStatus | undefined {
  const before = readStatus(object.status);
  const told =
    programmed.status === 'Unknown' ? (answered(object, before) ?? programmed) : programmed;
  const made = [
    toCondition('Accepted', accepted, object, before, now),
    toCondition('Programmed', told, object, before, now),
    toCondition('Ready', accepted.status === 'True' ? told : accepted, object, before, now),
    ...(STALLED.includes(accepted.reason)
      ? [toCondition('Stalled', { ...accepted, status: 'True' }, object, before, now)]
      : []),
    // An object whose service never failed has no such condition.
    ...(reachable.status === 'False' || before.conditions.some(isOf('Reachable'))
      ? [toCondition('Reachable', reachable, object, before, now)]
      : []),
  ];
  const status = {
    observedGeneration: object.generation,
    conditions: [...made, ...before.conditions.filter(condition => !isOurs(condition))],
    problems: problems.slice(0, MOST_PROBLEMS).map(toProblem),
  };
  return isDeepStrictEqual(status, before) ? undefined : status;
}

/** Returns whether a Problem with this generation of the object is no longer reported. */
export function takesBack(
  { status, generation }: ServedObject,
  next: { readonly problems?: readonly unknown[] },
): boolean {
  const { conditions, problems } = readStatus(status);
  const { problems: said = problems } = next;
  const isOfIt = conditions.find(isOf('Accepted'))?.observedGeneration === generation;
  return isOfIt && problems.some(each => !said.some(problem => isDeepStrictEqual(problem, each)));
}

/**
 * Returns the status of an object that has moved to another gateway. What is said of its newest
 * generation comes from the other gateway. `controller` is our name in lists of ancestors.
 * @returns undefined when nothing is left to take back
 */
export function statusOnceLeft(
  { status, generation }: ServedObject,
  controller: string,
): (Partial<ObjectStatus> & { readonly ancestors?: readonly unknown[] }) | undefined {
  const { conditions } = readStatus(status);
  const ancestors = isFields(status) ? fieldsIn(status.ancestors) : [];
  const isOld = ({ observedGeneration }: Fields) => observedGeneration !== generation;
  const isStale = (condition: Fields) => isOurs(condition) && isOld(condition);
  const isStaleOf = (ancestor: Fields) =>
    ancestor.controllerName === controller && fieldsIn(ancestor.conditions).every(isOld);
  const left = {
    ...(conditions.some(isStale) && { conditions: conditions.filter(each => !isStale(each)) }),
    ...(conditions.some(isStale) && { problems: [] }),
    ...(ancestors.some(isStaleOf) && { ancestors: ancestors.filter(each => !isStaleOf(each)) }),
  };
  return Object.keys(left).length === 0 ? undefined : left;
}

/** Returns what a proxy of another control plane has answered to this generation. */
function answered({ generation }: ServedObject, before: Before): ConditionValue | undefined {
  const known = before.conditions.find(isOf('Programmed'));
  if (known?.observedGeneration !== generation || known.status === 'Unknown') return undefined;
  const { status, reason, message } = known;
  const isTrue = status === 'True';
  return { status: isTrue ? 'True' : 'False', reason: String(reason), message: String(message) };
}

/**
 * Reasons of `Accepted` that only an edit of the object mends. No program needs to wait then, as
 * kstatus defines `Stalled` (https://github.com/kubernetes-sigs/cli-utils, pkg/kstatus).
 */
const STALLED: readonly string[] = ['Invalid', 'RefusedByProxy'];

const OURS: readonly unknown[] = ['Accepted', 'Programmed', 'Ready', 'Stalled', 'Reachable'];

const isOurs = ({ type }: Fields) => OURS.includes(type);

const isOf = (type: string) => (condition: Fields) => condition.type === type;

function toCondition(
  type: string,
  value: ConditionValue,
  { generation }: ServedObject,
  before: Before,
  now: number,
): Condition {
  const same = before.conditions.find(
    condition => condition.type === type && condition.status === value.status,
  );
  return stamp({ type, ...value }, same, generation, now);
}

function toProblem({ severity, field, message }: Problem) {
  return {
    severity,
    ...(field === undefined ? {} : { field }),
    message: cut(message, LONGEST_PROBLEM),
  };
}

/** What the status of an object says so far. */
type Before = {
  readonly observedGeneration: unknown;
  readonly conditions: readonly Fields[];
  readonly problems: readonly unknown[];
};

function readStatus(status: unknown): Before {
  const { observedGeneration, conditions, problems } = isFields(status) ? status : {};
  return {
    observedGeneration,
    conditions: fieldsIn(conditions),
    problems: Array.isArray(problems) ? problems : [],
  };
}
