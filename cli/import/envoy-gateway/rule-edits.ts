import type { Fields } from '#resources/words/fields.ts';
import { fieldsAt } from '../fields-at.ts';
import type { SourceObject } from '../source-object.ts';
import { type Rule, rulesOf } from './targets.ts';

/** What policies change in one rule of a route. */
export type RuleEdit = Rule & {
  /** The rule answers 500. */
  readonly isClosed?: boolean;
  /** They stand before those of the rule. Of several edits those of the first count. */
  readonly filters?: readonly Fields[];
  /** Counts where the rule has none. */
  readonly timeouts?: Fields;
};

/** Returns the spec of a route with these changes. */
export function editRoute(route: SourceObject, edits: readonly RuleEdit[]): Fields {
  const spec = fieldsAt(route.fields, 'spec');
  const own = edits.filter(edit => edit.route === route);
  if (own.length === 0) return spec;
  const rules = rulesOf(route).map((rule, index) =>
    editRule(
      fieldsAt(rule),
      own.filter(edit => edit.index === index),
    ),
  );
  return { ...spec, rules };
}

/** A rule without backends is answered 500 (Gateway API, `HTTPRouteRule`). */
function editRule(rule: Fields, edits: readonly RuleEdit[]): Fields {
  const { backendRefs: _, filters: __, timeouts: ___, retry: ____, ...match } = rule;
  if (edits.some(({ isClosed }) => isClosed)) return match;
  const { filters: added = [] } = edits.find(({ filters = [] }) => filters.length > 0) ?? {};
  const timeouts = edits.find(edit => edit.timeouts !== undefined)?.timeouts;
  const before = Array.isArray(rule.filters) ? rule.filters : [];
  return {
    ...rule,
    ...(added.length === 0 ? {} : { filters: [...added, ...before] }),
    ...(timeouts === undefined || rule.timeouts !== undefined ? {} : { timeouts }),
  };
}
