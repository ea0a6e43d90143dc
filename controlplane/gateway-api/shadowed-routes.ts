import type { Memo } from '#controlplane/compile/memo.ts';
import { problemOf } from '#controlplane/compile/problem-of.ts';
import type { HttpRouteMatch } from '#resources/kinds/http-route/http-route-spec.ts';
import type { Problem } from '#resources/problem.ts';
import { byAge } from './by-age.ts';
import { ANY_HOSTNAME } from './hostnames.ts';
import { prefixOf } from './path-prefix.ts';
import type { WrittenListener } from './route-parent.ts';
import type { AnyRoute } from './route-rules.ts';
import type { ServedOn } from './route-verdict.ts';
import type { ServedRoute, ServedRule } from './served-gateway.ts';

/**
 * Returns warnings of routes that get nothing, because an older one has the same match at the same
 * listener. Gateway API has both accepted, so that no condition of a status tells it. Routes that
 * are rejected are left out. They have a Problem already.
 */
export function shadowedRoutes(
  listeners: readonly WrittenListener[],
  attached: ReadonlyMap<string, readonly ServedOn[]>,
  memo: Memo,
): readonly Problem[] {
  return listeners.flatMap(listener => {
    const all = attached.get(listener.id) ?? [];
    const routes = all.map(({ route }) => route);
    return memo.of(listener, 'shadowed routes', routes, () => shadowedOn(listener, all, memo));
  });
}

/** What a route asks a listener for. Of equal ones the first counts. */
type Claim = {
  readonly route: AnyRoute;
  readonly rule: number;
  readonly field: string;
  readonly key: string;
  readonly what: string;
};

function shadowedOn(
  { origin, spec }: WrittenListener,
  all: readonly ServedOn[],
  memo: Memo,
): readonly Problem[] {
  const claims = all.flatMap(({ route }) => memo.of(route, 'claims', [], () => claimsOf(route)));
  if (new Set(claims.map(({ key }) => key)).size === claims.length) return [];
  const sorted = claims.sort((a, b) => byAge(a.route, b.route));
  const place = `the listener ${spec.name} of the ${origin.id.replace('/', ' ')}`;
  const first = new Map<string, Claim>();
  const told = new Set<string>();
  return sorted.flatMap(claim => {
    const { field, key, route } = claim;
    const by = first.get(key);
    if (by === undefined) first.set(key, claim);
    const once = `${route.id} ${field}`;
    if (by === undefined || isSameRule(by, claim) || told.has(once)) return [];
    told.add(once);
    return [problemOf(route, 'warning', field, `${tell(claim, by)} on ${place}`)];
  });
}

/** A rule that says the same twice loses nothing. */
function isSameRule(by: Claim, { route, rule }: Claim): boolean {
  return by.route.id === route.id && by.rule === rule;
}

function tell({ route, what }: Claim, by: Claim): string {
  const winner =
    by.route.id === route.id
      ? `spec.rules[${by.rule}]`
      : `the ${by.route.id.replace('/', ' ')}, which is older or first by name,`;
  return `${winner} gets ${what}`;
}

function claimsOf(served: ServedRoute): readonly Claim[] {
  const { kind, route } = served;
  if (kind === 'TCPRoute' || kind === 'UDPRoute')
    return [{ route, rule: 0, field: 'spec.parentRefs', key: '', what: 'all that comes' }];
  return served.hostnames.flatMap((hostname): readonly Claim[] => {
    const host = hostname === ANY_HOSTNAME ? 'all hosts' : hostname;
    if (kind === 'TLSRoute') {
      const what = `the connections for ${host}`;
      return [{ route, rule: 0, field: 'spec.hostnames', key: hostname, what }];
    }
    const rules: readonly ServedRule<Matching>[] = served.rules;
    return rules.flatMap(({ index: rule, rule: { matches } }) => {
      const field = `spec.rules[${rule}]`;
      const what = `the requests of the same match for ${host}`;
      const keyOf = (match: Match) => `${kind} ${hostname} ${matchText(match)}`;
      if (matches.length === 0) return [{ route, rule, field, key: keyOf({}), what }];
      return matches.map((match, at) => {
        return { route, rule, field: `${field}.matches[${at}]`, key: keyOf(match), what };
      });
    });
  });
}

type Match = Partial<Pick<HttpRouteMatch, 'headers' | 'path'>>;
type Matching = { readonly matches: readonly Match[] };

/** Returns a text that matches of the same requests share. */
function matchText(match: Match): string {
  const { path } = match;
  if (path?.type !== 'PathPrefix') return JSON.stringify(match);
  return JSON.stringify({ ...match, path: { ...path, value: prefixOf(path.value) } });
}
