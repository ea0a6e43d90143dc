import { limitField } from '#controlplane/compile/rate-limits/limit-field.ts';
import { comparableGroup } from '#ratelimit-service/comparable-group.ts';
import { explainLimit } from '#ratelimit-service/explain-match.ts';
import { compileLimits } from '#ratelimit-service/limits-index.ts';
import { matchGroup } from '#ratelimit-service/match.ts';
import { type Label, type LabelPattern, matchesLabel } from '#resources/labels/label-pattern.ts';
import type { OperatorLimit } from './operator-limits.ts';
import { type Place, placeOf } from './place.ts';

export type NamedGroup = { readonly name: string; readonly labels: readonly Label[] };

/** A limit as the operator wrote it. */
export type ExplainedLimit = Place & {
  readonly field: string;
  readonly name: string;
  readonly action: 'Enforce' | 'LogOnly';
  readonly rate: number;
  readonly unit: string;
  readonly pattern: LabelPattern;
};

export type AppliedLimit = ExplainedLimit & {
  /** Names of the label groups that it applies to. Never empty. */
  readonly groups: readonly string[];
  /** Headers that it adds, over the limit or not: name and template. */
  readonly requestHeaders: readonly Header[];
  readonly responseHeaders: readonly Header[];
};

type Header = { readonly name: string; readonly value: string };

/**
 * A limit of the domain that does not apply. The reason is about the group that comes nearest to
 * its pattern.
 */
export type OtherLimit = ExplainedLimit & { readonly reason: string };

export type ExplainedLimits = {
  readonly applied: readonly AppliedLimit[];
  /** The nearest first: the pattern that matches the most labels. */
  readonly others: readonly OtherLimit[];
};

/**
 * Returns which limits of the domain apply to these label groups, by the functions with which the
 * rate limit service decides.
 */
export function explainLimits(
  all: readonly OperatorLimit[],
  domain: string,
  groups: readonly NamedGroup[],
  places: ReadonlyMap<string, Place>,
): ExplainedLimits {
  const limits = all.filter(({ limit }) => limit.domain === domain);
  const index = compileLimits(limits.map(({ limit }) => limit));
  const matched = groups.map(({ name, labels: sent }) => {
    const labels = comparableGroup(index, domain, sent);
    return { group: { name, labels }, winners: matchGroup(index, domain, labels) };
  });
  const explained = limits.map(operator => {
    const own = matched.filter(({ winners }) => winners.includes(operator.limit));
    return {
      operator,
      facts: factsOf(operator, places),
      groups: own.map(({ group }) => group.name),
    };
  });
  return {
    applied: explained
      .filter(({ groups }) => groups.length > 0)
      .map(({ operator, facts, groups }) => ({ ...facts, groups, ...headersOf(operator) })),
    others: explained
      .filter(({ groups }) => groups.length === 0)
      .map(({ operator, facts }) => ({ facts, ...nearestGroup(operator, matched) }))
      .sort((a, b) => b.nearness - a.nearness)
      .map(({ facts, reason }) => ({ ...facts, reason })),
  };
}

function factsOf(
  { limit, rateLimit, index }: OperatorLimit,
  places: ReadonlyMap<string, Place>,
): ExplainedLimit {
  const { name, action, rate, unit, pattern } = limit;
  return {
    ...placeOf(places, rateLimit.id),
    field: limitField(rateLimit, index),
    name,
    action,
    rate,
    unit,
    pattern,
  };
}

/**
 * Returns the headers with their templates as written. They leave out a header that the compiler
 * leaves out.
 */
function headersOf({
  limit,
  spec,
}: OperatorLimit): Pick<AppliedLimit, 'requestHeaders' | 'responseHeaders'> {
  const sent = new Set(limit.requestHeaders.map(({ name }) => name));
  return {
    requestHeaders: spec.injectRequestHeaders.filter(({ name }) => sent.has(name.toLowerCase())),
    responseHeaders: spec.injectResponseHeaders,
  };
}

type Matched = { readonly group: NamedGroup; readonly winners: ReturnType<typeof matchGroup> };

function nearestGroup({ limit }: OperatorLimit, matched: readonly Matched[]) {
  const ranked = matched
    .map(({ group, winners }) => ({
      group,
      winners,
      nearness: nearnessOf(limit.pattern, group.labels),
    }))
    .sort((a, b) => b.nearness - a.nearness);
  const [nearest] = ranked;
  if (nearest === undefined) return { nearness: 0, reason: 'the request has no label group' };
  const reason = explainLimit(limit, nearest.group.labels, nearest.winners) ?? 'it applies';
  const where = matched.length > 1 ? `group ${JSON.stringify(nearest.group.name)}: ` : '';
  return { nearness: nearest.nearness, reason: where + reason };
}

/** Counts the labels that match before the first mismatch. */
function nearnessOf(pattern: LabelPattern, labels: readonly Label[]): number {
  const missed = pattern.findIndex((item, index) => {
    const label = labels[index];
    return label === undefined || matchesLabel(item, label) === undefined;
  });
  return missed === -1 ? pattern.length : missed;
}
