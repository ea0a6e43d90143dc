import type { Compiled } from '#controlplane/compile/compiled.ts';
import { JOINED } from '#controlplane/compile/gateways/route-filters.ts';
import { snapshotEncoder } from '#controlplane/rollout/envoy-snapshot.ts';
import { type ActiveRules, activateRules } from '#ext-authz/chain/active-rules.ts';
import type { RunnableFilter } from '#ext-authz/chain/filter-runner.ts';
import { type Configuration, FILTER_TYPES, FilterSet } from '#ext-authz/filters/filter-set.ts';
import type { Definitions, FilterDefinition } from '#ext-authz/policy/filter-settings.ts';
import type { Rule } from '#ext-authz/policy/rule.ts';
import type { FilterPolicyRule } from '#resources/kinds/filter-policy/filter-policy.ts';
import type { PolicyTarget } from '#resources/kinds/gateway-api/policy-target.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';

/** A rule as the service reads it, and as the operator writes it. */
export type OperatorRule = {
  readonly rule: Rule;
  readonly spec: FilterPolicyRule;
  /** Its FilterPolicy, or the route that names its Filters. */
  readonly policy: Pick<Resource<'FilterPolicy'>, 'id' | 'namespace' | 'name'> & {
    readonly spec: Pick<Resource<'FilterPolicy'>['spec'], 'precedence'>;
  };
  /** Its place among the rules, or that of the target. */
  readonly index: number;
  /** What a FilterPolicy with `targetRefs` is for here. */
  readonly target?: PolicyTarget;
  /** The name of the listener whose Filters they are. */
  readonly listener?: string;
};

/** All that the Filter service decides by. The definitions hold secrets. */
export type FiltersInForce = {
  readonly definitions: Definitions;
  readonly active: ActiveRules;
  /** In the order in which they are tried. */
  readonly rules: readonly OperatorRule[];
  /** The names of rules of routes and listeners. */
  readonly named: ReadonlySet<string>;
};

/**
 * Takes Filters and rules the way that they take to the service. `compiled` is what its node group
 * gets: messages. Then come their bytes, and what the service reads of them. No Filter is opened.
 */
export function filtersInForce(resources: ResourceSet, compiled: Compiled): FiltersInForce {
  const { definitions, rules } = receivedBy(new FilterSet(), compiled);
  const runnable = new Map([...definitions].map(([name, filter]) => [name, unopened(filter)]));
  const written = new Map(resources.filterPolicies.flatMap(writtenRules));
  return {
    definitions,
    active: activateRules(rules, definitions, runnable),
    named: new Set(rules.flatMap(({ routeRule }) => routeRule ?? [])),
    rules: rules.flatMap(rule => {
      const operator = written.get(rule.id);
      return operator === undefined ? [] : [{ ...operator, rule }];
    }),
  };
}

/** It only makes versions, which are never shown. */
const VERSION_KEY = new Uint8Array(32);

function receivedBy(service: FilterSet, compiled: Compiled): Configuration {
  const snapshot = snapshotEncoder(VERSION_KEY)(compiled);
  let received: Configuration | undefined;
  for (const typeUrl of FILTER_TYPES) {
    const changed = [...(snapshot.get(typeUrl)?.values() ?? [])];
    const taken = service.update({ typeUrl, changed, removed: [], complete: true });
    if ('error' in taken) throw new Error(`the Filter service rejects ${taken.error}`);
    received = taken.value;
  }
  if (received === undefined) throw new Error('the Filter service lacks a type of resources');
  return received;
}

/** Returns what is known of a filter that is not opened: what it injects. */
function unopened({ settings, type }: FilterDefinition): RunnableFilter {
  const injects = new Set(settings.injectRequestHeaders.map(({ name }) => name));
  const run = () => Promise.reject(new Error('explain runs no filter'));
  return { type, injects, run };
}

function writtenRules(
  policy: Resource<'FilterPolicy'>,
): readonly (readonly [id: string, Omit<OperatorRule, 'rule'>])[] {
  const { name, namespace, spec } = policy;
  return spec.rules.map((rule, index) => [
    `${namespace}/${name}[${index}]`,
    { spec: rule, policy, index },
  ]);
}

/** Returns whether a rule has the Filters of a listener. */
export function isOfListener({ routeRule = '' }: Rule): boolean {
  return /^(?:Gateway|ListenerSet)\//.test(routeRule);
}

/**
 * Returns the rule of a listener, or that of a route whose Filters come from a FilterPolicy for it
 * or are named by it, joined with the rule that host and path select.
 */
export function routeRuleOf(
  rule: Rule,
  other: OperatorRule | undefined,
  policies: readonly Resource<'FilterPolicy'>[],
): OperatorRule {
  const [first = ''] = (rule.routeRule ?? '').split(JOINED);
  const [kind = '', namespace = '', name = '', place = ''] = first.split('/');
  const id = `${kind}/${namespace}/${name}`;
  const index = Number(place);
  const policy = policies.find(each => each.id === id);
  const { filters: targeting = [], targetRefs = [] } = policy?.spec ?? {};
  const ofPolicy = targeting.map(filter => ({ ...filter, ...EVERY_ONE }));
  const end = rule.items.length - (other?.rule.items.length ?? 0);
  const named = (from: number, to: number) =>
    rule.items.slice(from, to).map(({ filter }) => {
      const [of = '', name = ''] = filter.split('/');
      return { namespace: of, name, arguments: {}, ...EVERY_ONE };
    });
  const filters = [...ofPolicy, ...named(ofPolicy.length, end), ...(other?.spec.filters ?? [])];
  const target = targetRefs[index];
  return {
    rule,
    spec: { host: '*', path: '*', filters },
    policy: { id, namespace, name, spec: { precedence: 0 } },
    index,
    ...(isOfListener(rule) ? { listener: place } : {}),
    ...(target === undefined ? {} : { target }),
  };
}

const EVERY_ONE = { onDeny: 'break', onAllow: 'continue' } as const;
