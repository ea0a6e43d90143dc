import { isAssumed } from '#resources/parse/assumed-rule.ts';
import type { Resource } from '#resources/resource.ts';
import type { GatewayContext } from './gateway-context.ts';
import { listenerFilters } from './listener-filters.ts';
import type { Ask } from './remembered.ts';
import type { WrittenListener } from './route-parent.ts';
import type { AnyRoute } from './route-rules.ts';
import type { AnyRule } from './rule-faults.ts';
import type { ServedPolicy, ServedRule } from './served-gateway.ts';
import { type TargetingPolicy, targetKey } from './targeted-policies.ts';

/** A listener of a route, and the id of its Gateway. */
export type PolicyPlace = { readonly listener: WrittenListener; readonly gateway: string };

/**
 * Returns the rules of a route with what a listener and policies demand of their requests there. Of
 * FilterPolicies the one with the narrowest target counts: the rule, the route, the listener, its
 * ListenerSet, the Gateway. The limits of all targets count. Assumed rules that no Filter protects
 * are left out.
 */
export function withPolicies(
  route: AnyRoute,
  rules: readonly ServedRule<AnyRule>[],
  place: PolicyPlace,
  ask: Ask<GatewayContext>,
): readonly ServedRule<AnyRule>[] {
  if (route.kind !== 'HTTPRoute' && route.kind !== 'GRPCRoute') return rules;
  const behind = behindListener(rules, place, ask);
  if (ask(({ targeted }) => targeted.isEmpty)) return behind.filter(rule => isKept(rule));
  return behind.flatMap(rule => {
    const keys = keysOf(route, rule.rule, place);
    const found = ask(({ targeted }) => targeted.filterPolicy(keys));
    if (!isKept(rule, found)) return [];
    const ids = ask(({ targeted }) => targeted.rateLimits(keys));
    const limits = ids === '' ? [] : limitsOf(ids.split('\n'), ask);
    if (found === undefined) return [{ ...rule, limits }];
    if ('closed' in found) return [{ ...rule, limits, broken: closedText(found.closed) }];
    return [{ ...rule, limits, policy: served(found.policy, found.target, ask) }];
  });
}

/** What a rule may have been for stays open where no Filter would have decided there. */
function isKept({ rule }: ServedRule<AnyRule>, found?: TargetingPolicy): boolean {
  if (!isAssumed(rule) || rule.namesFilter) return true;
  return found !== undefined && ('closed' in found || (found.policy.spec.filters ?? []).length > 0);
}

/** Returns the rules with what their listener asks for. */
function behindListener(
  rules: readonly ServedRule<AnyRule>[],
  { listener }: PolicyPlace,
  ask: Ask<GatewayContext>,
): readonly ServedRule<AnyRule>[] {
  const { filters } = listenerFilters(listener, ask);
  if (filters === undefined) return rules;
  return rules.map(rule => {
    const broken = filters.broken ?? rule.broken;
    return { ...rule, listener: filters, ...(broken === undefined ? {} : { broken }) };
  });
}

function keysOf(
  { id }: AnyRoute,
  { name }: { readonly name?: string },
  { listener, gateway }: PolicyPlace,
): readonly string[] {
  return [
    ...(name === undefined ? [] : [targetKey(id, name)]),
    targetKey(id),
    targetKey(listener.origin.id, listener.spec.name),
    targetKey(listener.origin.id),
    targetKey(gateway),
  ];
}

function limitsOf(
  ids: readonly string[],
  ask: Ask<GatewayContext>,
): readonly Resource<'RateLimit'>[] {
  return ids.flatMap(id => ask(({ targeted }) => targeted.rateLimit(id)) ?? []);
}

function served(
  policy: Resource<'FilterPolicy'>,
  target: number,
  ask: Ask<GatewayContext>,
): ServedPolicy {
  const named = (policy.spec.filters ?? []).flatMap(filter => [
    filter,
    ...(filter.arguments.insteadOfRedirect?.filters ?? []),
  ]);
  const filters = named.flatMap(
    ({ namespace = policy.namespace, name }) =>
      ask(context => context.filter(namespace, name)) ?? [],
  );
  return { policy, target, filters };
}

function closedText({ namespace, name }: Pick<Resource, 'namespace' | 'name'>): string {
  return `the FilterPolicy ${namespace}/${name} is rejected`;
}
