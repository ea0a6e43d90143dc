import type { ConditionValue, NamedCondition } from '#controlplane/gateway-api/condition.ts';
import type { Problem } from '#resources/problem.ts';
import { type Fields, isFields } from '#resources/words/fields.ts';

const LONGEST_MESSAGE = 4_000;

/** The conditions that an object, or a part of it, should have. */
export type ConditionsNow = {
  readonly wanted: readonly NamedCondition[];
  /** The types of conditions that are ours. Those that are not wanted are removed. */
  readonly ours: readonly string[];
  /** The generation that the wanted conditions are about. */
  readonly generation: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

/**
 * Merges conditions into those that an object has. Conditions of other writers stay, and all keep
 * their order. What is known of a newer generation stays too. Source: "Conditions" of
 * GatewayStatus in Gateway API.
 */
export function mergeConditions(
  before: unknown,
  { wanted, ours, generation, now }: ConditionsNow,
): readonly Fields[] {
  const known = fieldsIn(before);
  const made = new Map(
    wanted.map(condition => {
      const old = known.find(({ type }) => type === condition.type);
      return [
        condition.type,
        isNewer(old, generation) ? old : stamp(condition, old, generation, now),
      ];
    }),
  );
  const kept = known.flatMap(condition => {
    const type = String(condition.type);
    if (!ours.includes(type)) return [condition];
    const next = made.get(type);
    made.delete(type);
    return next === undefined ? [] : [next];
  });
  return [...kept, ...[...made.values()].filter(condition => condition !== undefined)];
}

function isNewer(old: Fields | undefined, generation: number): boolean {
  return typeof old?.observedGeneration === 'number' && old.observedGeneration > generation;
}

/** Source: Kubernetes API conventions, "Typical status properties" (meta/v1 Condition). */
export type Condition = NamedCondition & {
  readonly observedGeneration: number;
  readonly lastTransitionTime: string;
};

/** The time changes with the value alone. */
export function stamp(
  { type, status, reason, message }: NamedCondition,
  old: Fields | undefined,
  observedGeneration: number,
  now: number,
): Condition {
  const since = old?.status === status ? old.lastTransitionTime : undefined;
  return {
    type,
    status,
    reason,
    message: cut(message, LONGEST_MESSAGE),
    observedGeneration,
    lastTransitionTime: typeof since === 'string' ? since : wholeSeconds(now),
  };
}

/** The API's times have whole seconds. */
export function wholeSeconds(now: number): string {
  return new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
}

export function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).toWellFormed()}…`;
}

/** Returns the objects in what should be a list of them. */
export function fieldsIn(list: unknown): readonly Fields[] {
  return Array.isArray(list) ? list.filter(isFields) : [];
}

/** Whether requests reach their service. What passes by itself makes nothing less accepted. */
export function reachable(problems: readonly Problem[]): ConditionValue {
  const passing = problems
    .filter(({ since, reported }) => since !== undefined && reported === undefined)
    .map(textOf);
  if (passing.length > 0)
    return { status: 'False', reason: 'Unreachable', message: passing.join('. ') };
  const message = 'The proxies see no failure any more';
  return { status: 'True', reason: 'Reachable', message };
}

export function textOf({ field, message }: Problem): string {
  return field === undefined ? message : `${field}: ${message}`;
}
