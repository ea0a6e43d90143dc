import type * as z from 'zod';
import { hostname } from '#resources/kinds/gateway-api/names.ts';
import { parentRef } from '#resources/kinds/gateway-api/parent-ref.ts';
import { grpcRouteMatch } from '#resources/kinds/grpc-route/grpc-route-spec.ts';
import { httpRouteMatch } from '#resources/kinds/http-route/http-route-match.ts';
import type { ClosedRoute } from '#resources/resource.ts';
import { isFields } from '#resources/words/fields.ts';

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
 * route. A route must not close more than it would have served.
 * @returns undefined when too little of it can be read
 */
export function salvageRoute(kind: string, spec: unknown): ClosedRoute | undefined {
  if (!isFields(spec)) return undefined;
  const rules = CONNECTION_KINDS.includes(kind) ? [NO_BACKENDS] : rulesOf(kind, spec.rules);
  const hostnames = readable(hostname, spec.hostnames, Number.POSITIVE_INFINITY);
  const parentRefs = readable(parentRef, spec.parentRefs, MOST_RULES) ?? [];
  const defaults = spec.useDefaultGateways === 'All' ? { useDefaultGateways: 'All' } : {};
  const isAttached = parentRefs.length > 0 || 'useDefaultGateways' in defaults;
  if (hostnames === undefined || rules.length === 0 || !isAttached) return undefined;
  // Each part was parsed by the schema of this very kind.
  return { kind, spec: { parentRefs, hostnames, rules, ...defaults } } as unknown as ClosedRoute;
}

const NO_BACKENDS = { backendRefs: [] };

function rulesOf(kind: string, rules: unknown): readonly object[] {
  const match = MATCHES[kind];
  if (match === undefined) return [];
  const written = rules === undefined ? [{}] : rules;
  if (!Array.isArray(written)) return [];
  return written.slice(0, MOST_RULES).flatMap(rule => {
    const matches = isFields(rule) ? readable(match, rule.matches, MOST_MATCHES) : undefined;
    if (matches === undefined) return [];
    const all = matches.length === 0 && kind === 'HTTPRoute' ? [match.parse({})] : matches;
    return [{ matches: all, filters: [], ...NO_BACKENDS }];
  });
}

/** @returns undefined when something is written and nothing of it is right */
function readable<T>(schema: z.ZodType<T>, list: unknown, most: number): T[] | undefined {
  if (list === undefined || (Array.isArray(list) && list.length === 0)) return [];
  if (!Array.isArray(list)) return undefined;
  const items = list.slice(0, most).flatMap(item => {
    const parsed = schema.safeParse(item);
    return parsed.success ? [parsed.data] : [];
  });
  return items.length === 0 ? undefined : items;
}
