import type { ExternalStage, ServedRule } from '#controlplane/gateway-api/served-gateway.ts';
import { isJsonObject, type JsonObject, objectsIn } from '#protos/json.ts';
import { hashSpec } from '#resources/words/hash.ts';
import { compareText } from '#resources/words/order.ts';
import { extAuthzSettings } from '../ext-authz/ext-authz-filter.ts';
import type { HeaderChange } from '../forwarded-headers.ts';
import type { Memo } from '../memo.ts';
import { perFilterConfig } from '../per-filter-config.ts';
import { externalAuthFilter } from './external-auth-filter.ts';

/** A service that a rule asks, with the filter of Envoy that does so. */
export type RuleExternal = {
  readonly stage: ExternalStage;
  /** Equal for rules that ask in the same way, at the same place of their list. */
  readonly name: string;
  /** Its place among those of the rule. */
  readonly place: number;
};

type Rule = Pick<ServedRule<unknown>, 'broken' | 'externals'>;

const PREFIX = 'ExternalAuth';

/**
 * The header with the names of a listener's filters. Connections from before a change of these keep
 * their old listener, so a route compares the header. Only the gateway sets it.
 */
export const EXTERNALS_HEADER = 'x-gateway-externals';

/** Returns the services that a rule asks. None when every request is answered 500. */
export function ruleExternals({ broken, externals }: Rule): readonly RuleExternal[] {
  if (broken !== undefined) return [];
  return externals.map((stage, place) => ({ stage, place, name: nameOf(stage, place) }));
}

/** One filter serves many rules, so its name tells its settings from all others. */
function nameOf(stage: ExternalStage, place: number): string {
  return `${PREFIX}/${place}/${hashSpec(externalAuthFilter('', stage))}`;
}

/** The filters of a listener, in the order in which they run, and what tells routes of them. */
export type ExternalFilters = {
  readonly filters: readonly JsonObject[];
  readonly mark: HeaderChange;
};

/**
 * Returns the filters of these rules. Routes turn them on.
 * @returns undefined when no rule asks
 */
export function externalFilters(rules: readonly Rule[], memo: Memo): ExternalFilters | undefined {
  const found = new Map<string, RuleExternal>();
  for (const rule of rules.filter(({ externals }) => externals.length > 0))
    for (const each of memo.of(rule, 'externals', [], () => ruleExternals(rule)))
      if (!found.has(each.name)) found.set(each.name, each);
  if (found.size === 0) return undefined;
  const sorted = [...found.values()].sort(
    (a, b) => a.place - b.place || compareText(a.name, b.name),
  );
  return {
    filters: sorted.map(({ name, stage }) => externalAuthFilter(name, stage)),
    mark: {
      key: EXTERNALS_HEADER,
      value: externalsMark(sorted.map(({ name }) => name)),
      append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
    },
  };
}

/** Returns the value of the header on a listener with these filters. */
export function externalsMark(names: readonly string[]): string {
  return names.map(item).join('');
}

function item(name: string): string {
  return `,${name},`;
}

/** Returns a match for listeners that have all of these filters. */
export function withExternals(match: JsonObject, externals: readonly RuleExternal[]): JsonObject {
  const headers = externals.map(({ name }) => ({
    name: EXTERNALS_HEADER,
    string_match: { contains: item(name) },
  }));
  return { ...match, headers: [...objectsIn(match.headers), ...headers] };
}

/** Returns the part of a route that turns its filters on. */
export function externalsOn(externals: readonly RuleExternal[]): JsonObject {
  return perFilterConfig(
    ...externals.map(({ name }) => extAuthzSettings(name, { check_settings: {} })),
  );
}

/** Returns the names of the filters that a route turns on, in the order in which they run. */
export function externalsIn(route: {
  readonly typed_per_filter_config?: unknown;
}): readonly string[] {
  const { typed_per_filter_config: settings } = route;
  if (!isJsonObject(settings)) return [];
  return Object.keys(settings).filter(name => name.startsWith(`${PREFIX}/`));
}

/**
 * Returns the part of a virtual host where the filters of all routes are in the chain of every
 * request. They ask for those routes alone that turn them on.
 */
export function externalsInChain(routes: readonly JsonObject[]): JsonObject {
  const names = new Set(routes.flatMap(externalsIn));
  return perFilterConfig(...[...names].map(name => extAuthzSettings(name, { disabled: true })));
}
