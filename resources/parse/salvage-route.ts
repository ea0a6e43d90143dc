import type * as z from 'zod';
import { hostname, sectionName } from '#resources/kinds/gateway-api/names.ts';
import { parentRef } from '#resources/kinds/gateway-api/parent-ref.ts';
import { grpcRouteMatch } from '#resources/kinds/grpc-route/grpc-route-spec.ts';
import { httpRouteMatch } from '#resources/kinds/http-route/http-route-match.ts';
import type { ClosedRoute } from '#resources/resource.ts';
import { isFields } from '#resources/words/fields.ts';
import { assumedMatch } from './assumed-match.ts';
import type { Assumed } from './assumed-rule.ts';

/** As many as a right route has at most. */
const MOST_RULES = 16;
const MOST_MATCHES = 64;

const MATCHES: Readonly<Record<string, z.ZodType>> = {
  HTTPRoute: httpRouteMatch,
  GRPCRoute: grpcRouteMatch,
};

const CONNECTION_KINDS: readonly string[] = ['TLSRoute', 'TCPRoute', 'UDPRoute'];

/**
 * Reads where a rejected route of Gateway API is attached and what it matches, as far as it is
 * right. It has no backends, so its requests are answered 500 and do not fall through to a wider
 * route. A route must not close more than it would have served, unless Filters protect it. For
 * these it has assumed rules.
 * @returns undefined when it is not known where it is attached
 */
export function salvageRoute(kind: string, spec: unknown): ClosedRoute | undefined {
  if (!isFields(spec)) return undefined;
  const hostnames = readable(hostname, spec.hostnames);
  const parentRefs = readable(parentRef, spec.parentRefs) ?? [];
  const defaults = spec.useDefaultGateways === 'All' ? { useDefaultGateways: 'All' } : {};
  if (parentRefs.length === 0 && !('useDefaultGateways' in defaults)) return undefined;
  const isSure = hostnames !== undefined;
  const ofConnections = isSure ? [NO_BACKENDS] : [];
  const rules = CONNECTION_KINDS.includes(kind) ? ofConnections : rulesOf(kind, spec.rules, isSure);
  const salvaged = { parentRefs, hostnames: hostnames ?? [], rules, ...defaults };
  // Each part was parsed by the schema of this very kind.
  return { kind, spec: salvaged } as unknown as ClosedRoute;
}

const NO_BACKENDS = { backendRefs: [] };

/** Where no host name can be read, not even a match that is right says what the rule is for. */
function rulesOf(kind: string, rules: unknown, isSure: boolean): readonly object[] {
  const match = MATCHES[kind];
  if (match === undefined) return [];
  // What is no list is one rule that cannot be read.
  const written = rules === undefined ? [{}] : Array.isArray(rules) ? rules : [[rules]];
  return atMost(MOST_RULES, written).flatMap(rule => ruleOf(match, rule, isSure));
}

function ruleOf(match: z.ZodType, rule: unknown, isSure: boolean): readonly object[] {
  const { name, matches = [] } = isFields(rule) ? rule : { matches: undefined };
  const written = isFields(rule) && Array.isArray(matches) ? matches : [undefined];
  const every = written.length === 0 && match === httpRouteMatch ? [{}] : written;
  const parsed = atMost(MOST_MATCHES, every).map(item => [match.safeParse(item), item] as const);
  const right = parsed.flatMap(([{ success, data }]) => (success && isSure ? [data] : []));
  const wrong = parsed.flatMap(([{ success }, item]) => (success && isSure ? [] : [item]));
  const named = sectionName.safeParse(name).success ? { name } : {};
  const closed = { ...named, filters: [], ...NO_BACKENDS };
  const assumed: Assumed = { namesFilter: NAMES_FILTER.test(JSON.stringify(rule) ?? '') };
  const assumedMatches = wrong.map(item => assumedMatch(match, item));
  return [
    ...(right.length > 0 || wrong.length === 0 ? [{ ...closed, matches: right }] : []),
    ...(wrong.length > 0 ? [{ ...closed, ...assumed, matches: assumedMatches }] : []),
  ];
}

/** What is beyond so many items is one that cannot be read. */
function atMost(most: number, items: readonly unknown[]): readonly unknown[] {
  return items.length <= most ? items : [...items.slice(0, most), items.slice(most)];
}

/** In any letter case and place, since the rule may be misspelt. */
const NAMES_FILTER = /extensionRef|externalAuth/i;

/** @returns undefined when something is written and nothing of it is right */
function readable<T>(schema: z.ZodType<T>, list: unknown): T[] | undefined {
  if (list === undefined || (Array.isArray(list) && list.length === 0)) return [];
  if (!Array.isArray(list)) return undefined;
  const items = list.flatMap(item => {
    const parsed = schema.safeParse(item);
    return parsed.success ? [parsed.data] : [];
  });
  return items.length === 0 ? undefined : items;
}
