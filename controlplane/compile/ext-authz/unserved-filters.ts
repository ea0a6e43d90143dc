import { askedService } from '#resources/kinds/mapping/mapping-tls.ts';
import type { Glob } from '#resources/match/glob.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { isProxyOf, serviceOfHost } from '../clusters/hop.ts';
import { mappingDomain, mappingPaths } from '../mapping-domain.ts';
import { problemOf } from '../problem-of.ts';
import { isWhole, rulesOn } from './asked-paths.ts';
import { type OrderedRule, orderedRules, ruleText } from './rule-order.ts';

type Mapping = Resource<'Mapping'>;

/**
 * Returns a warning for each Mapping of a node group beside the edge that a rule with Filters may
 * match, since Filters run at the edge alone. `mappings` are those of the group. Proxies that other
 * groups send requests to have none, because the edge stands before them.
 */
export function unservedFilterProblems(
  mappings: readonly Mapping[],
  resources: ResourceSet,
): readonly Problem[] {
  const group = mappings[0]?.spec.node_group;
  if (group === undefined || resources.filterPolicies.length === 0) return [];
  if (isBehindOthers(group, resources)) return [];
  const rulesFor = rulesOn(orderedRules(resources.filterPolicies));
  return mappings.flatMap(mapping => {
    if (mapping.spec.bypass_auth || mapping.spec.shadow) return [];
    const domain = mappingDomain(mapping.spec);
    const paths = mappingPaths(mapping.spec);
    const rule = firstClosing(rulesFor([domain])(paths), paths, domain);
    if (rule === undefined) return [];
    const message = `no Filters run in node group ${group}, only at the edge: clients that reach its proxies pass without those of ${ruleText(rule)}`;
    return [problemOf(mapping, 'warning', 'spec.node_group', message)];
  });
}

/** Returns whether a route of another group leads to the proxies of this one. */
function isBehindOthers(group: string, { mappings, proxyConfigs }: ResourceSet): boolean {
  const isOwn = (host: string) => isProxyOf(group, serviceOfHost(host));
  return (
    mappings.some(({ spec }) => spec.node_group !== group && isOwn(askedService(spec).host)) ||
    proxyConfigs.some(
      ({ spec }) =>
        spec.node_group !== group &&
        spec.clusters.some(
          ({ name, service_name = name, type }) => type === 'sds' && isOwn(service_name),
        ),
    )
  );
}

/** A rule that opens all of the paths is the operator's decision. */
function firstClosing(
  rules: readonly OrderedRule[],
  paths: Glob,
  domain: string,
): OrderedRule | undefined {
  const first = rules.find(rule => rule.closes || isWhole(rule, paths, [domain]));
  return first?.closes ? first : undefined;
}
