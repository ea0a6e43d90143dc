import type { ResourceSet } from '#resources/resource-set.ts';
import { suggest } from '#resources/words/suggest.ts';

/** The label domains in force where neither a RateLimitService nor the Module names one. */
export const DEFAULT_DOMAINS = ['gateway', 'ambassador'] as const;

/** The domains that the edge asks a rate limit service about. */
export type AskedDomains = {
  readonly named: readonly string[];
  /** The source of their names, for messages. */
  readonly source: string;
};

/**
 * Returns the domains that the edge asks about: the RateLimitService's, else the Module's
 * `default_label_domain`. Where neither names one, our own documented domain and Ambassador's are
 * both in force.
 */
export function askedDomains({
  config: { default_label_domain },
  rateLimitServices: [service],
}: Pick<ResourceSet, 'config' | 'rateLimitServices'>): AskedDomains {
  if (service?.spec.domain !== undefined) {
    const source = `the domain of RateLimitService ${service.namespace}/${service.name}`;
    return { named: [service.spec.domain], source };
  }
  const source = "the Module's `default_label_domain`";
  return {
    named: default_label_domain === undefined ? DEFAULT_DOMAINS : [default_label_domain],
    source,
  };
}

/**
 * Returns why labels or limits of a domain have no effect. `what` names them.
 * @returns undefined when the edge asks about the domain
 */
export function unaskedReason(
  what: string,
  domain: string,
  { named, source }: AskedDomains,
): string | undefined {
  if (named.includes(domain)) return undefined;
  const asked = named.map(each => JSON.stringify(each)).join(' and ');
  const remedy = suggest(domain, named) || '. Name one of them here, or this one there';
  return `${what} of domain ${JSON.stringify(domain)} have no effect: the edge asks for limits of domain ${asked} only (${source})${remedy}`;
}
