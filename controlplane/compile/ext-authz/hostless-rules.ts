import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { suggest } from '#resources/words/suggest.ts';
import { coveringDomains } from '../domain-cover.ts';
import { mappingDomain } from '../mapping-domain.ts';
import { problemOf } from '../problem-of.ts';
import { hostReach, perHost } from './host-reach.ts';
import type { OrderedRule } from './rule-order.ts';

/**
 * Returns a warning for each rule with Filters whose host nothing serves. It is probably misspelt,
 * and then the host that was meant is open.
 */
export function hostlessRules(
  resources: ResourceSet,
  rules: readonly OrderedRule[],
): readonly Problem[] {
  const domains = servedDomains(resources);
  if (domains.length === 0) return [];
  const isServed = perHost(servedBy(domains));
  const hostless = rules.flatMap(({ closes, field, index, policy }) => {
    const { host = '*' } = policy.spec.rules[index] ?? {};
    return !closes || isServed(host) ? [] : [{ field, host, policy }];
  });
  const near = hostless.length * domains.length > MOST_COMPARED ? [] : domains;
  return hostless.map(({ field, host, policy }) => {
    const message = `nothing is served on the host "${host}", so the rule protects nothing${suggest(host, near)}`;
    return problemOf(policy, 'warning', `${field}.host`, message);
  });
}

/** Each hostless rule is compared to each domain. So many are no typos, and would take seconds. */
const MOST_COMPARED = 10_000;

function servedBy(domains: readonly string[]): (host: string) => boolean {
  const served = new Set(domains);
  return host => {
    if (host.includes('*')) return domains.some(hostReach([host]));
    return coveringDomains(host.replace(/^\[|\]$/g, '')).some(domain => served.has(domain));
  };
}

/**
 * Returns the domains of routes at the edge, and perhaps more. There are none when it is unknown
 * what a rejected resource would serve.
 */
function servedDomains(resources: ResourceSet): readonly string[] {
  const { closed, config, grpcRoutes, hosts, httpRoutes, mappings, proxyConfigs } = resources;
  if (closed.some(({ kind }) => !POLICIES.has(kind))) return [];
  const names = hosts.map(({ spec }) => spec.hostname);
  const others = names.length === 0 || config.serve_other_hosts ? ['*'] : [];
  const ofMappings = mappings.map(({ spec }) => mappingDomain(spec));
  const ofConfigs = proxyConfigs.flatMap(({ spec }) =>
    spec.virtual_hosts.flatMap(({ domains }) => domains),
  );
  const ofRoutes = [...httpRoutes, ...grpcRoutes].flatMap(({ spec: { hostnames } }) =>
    hostnames.length === 0 ? ['*'] : hostnames,
  );
  const written = [...ofMappings, ...ofConfigs];
  return [
    ...new Set([
      ...names,
      ...ofRoutes,
      ...written.filter(domain => domain !== '*'),
      ...(written.includes('*') ? others : []),
    ]),
  ];
}

const POLICIES: ReadonlySet<string> = new Set(['Filter', 'FilterPolicy']);
