import type { JsonObject } from '#protos/json.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping.ts';
import type { LabelSpecifier } from '#resources/labels/label-specifier.ts';
import type { LabelGroup } from '#resources/labels/labels.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { type ModuleConfig, moduleConfig } from '../module-config.ts';
import { type DefaultDomain, defaultLabelDomain } from './default-label-domain.ts';
import { toRateLimit } from './rate-limit-actions.ts';
import { withLimits } from './rate-limit-filter.ts';

/** How the edge labels requests: in one domain, which is that of the rate limit service. */
export type Labelling = {
  readonly domain: string;
  /** The labels of every request in this domain. */
  readonly defaults: readonly LabelSpecifier[];
  /** Where the domain's name comes from, for messages. */
  readonly source: string;
  /** Equal for equal domain and defaults. */
  readonly key: string;
};

/** The domain is the RateLimitService's, else the Module's `default_label_domain`, else the default. */
export function labelling(resources: ResourceSet): Labelling {
  const config = moduleConfig(resources);
  const [service] = resources.rateLimitServices;
  const { domain, source } = namedBy(service) ?? namedByModule(config) ?? defaultLabelDomain(resources);
  const defaults = defaultsOf(config.default_labels, domain);
  return { domain, defaults, source, key: JSON.stringify([domain, defaults]) };
}

function namedBy(service: Resource<'RateLimitService'> | undefined): DefaultDomain | undefined {
  if (service?.spec.domain === undefined) return undefined;
  const source = `the domain of RateLimitService ${service.namespace}/${service.name}`;
  return { domain: service.spec.domain, source };
}

function namedByModule({ default_label_domain: domain }: ModuleConfig): DefaultDomain | undefined {
  return domain === undefined ? undefined : { domain, source: "the Module's `default_label_domain`" };
}

/** The default labels of a domain; a name such as `constructor` is nothing but a domain. */
function defaultsOf(
  defaultLabels: Readonly<Record<string, { readonly defaults: readonly LabelSpecifier[] }>>,
  domain: string,
): readonly LabelSpecifier[] {
  return Object.hasOwn(defaultLabels, domain) ? (defaultLabels[domain]?.defaults ?? []) : [];
}

/**
 * The groups of a Mapping in the domain, each with the default labels before its own. None when it mentions the domain not at all:
 * its requests then have the defaults alone, as the group `default`. Source: docs/reference/kinds/rate-limit.md.
 */
export function labelGroups({ labels }: MappingSpec, { domain, defaults }: Labelling): readonly LabelGroup[] {
  const groups = Object.hasOwn(labels, domain) ? (labels[domain] ?? []) : [];
  return groups.map(({ name, specifiers }) => ({ name, specifiers: [...defaults, ...specifiers] }));
}

/** `rate_limits` of a Mapping's route; without any Envoy takes those of the virtual host, with them only these. */
export function routeRateLimits(spec: MappingSpec, labelling: Labelling): readonly JsonObject[] {
  return labelGroups(spec, labelling).map(({ specifiers }) => toRateLimit(specifiers));
}

/** What every virtual host has besides its own: the labels of the group `default`. */
export function hostRateLimits({ defaults, domain }: Labelling): JsonObject {
  return defaults.length === 0 ? {} : { rate_limits: [toRateLimit(defaults)], ...withLimits(domain) };
}
