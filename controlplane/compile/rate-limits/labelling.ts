import type { JsonObject } from '#protos/json.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import type { LabelSpecifier } from '#resources/labels/label-specifier.ts';
import type { LabelGroup } from '#resources/labels/labels.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { type AskedDomains, askedDomains } from './asked-domains.ts';
import { toRateLimit } from './rate-limit-actions.ts';
import { stageOf, withLimits } from './rate-limit-filter.ts';

/** How the edge labels requests in one domain of the rate limit service. */
export type Labelling = {
  readonly domain: string;
  /** The labels of every request in this domain. */
  readonly defaults: readonly LabelSpecifier[];
  /** Equal for equal domain and defaults. */
  readonly key: string;
};

/** How the edge labels requests. */
export type Labellings = {
  /** One for each domain in force. */
  readonly domains: readonly Labelling[];
  /** Their names, and what names them. */
  readonly asked: AskedDomains;
  /** Equal for equal domains and defaults. */
  readonly key: string;
};

/** Returns the labels in force. */
export function labellings(resources: ResourceSet): Labellings {
  const asked = askedDomains(resources);
  const domains = asked.named.map(domain => {
    const defaults = defaultsOf(resources.config.default_labels, domain);
    return { domain, defaults, key: JSON.stringify([domain, defaults]) };
  });
  return { domains, asked, key: domains.map(({ key }) => key).join() };
}

/**
 * Returns the default labels of a domain. A name such as `constructor` is a domain like any other.
 */
function defaultsOf(
  defaultLabels: Readonly<Record<string, { readonly defaults: readonly LabelSpecifier[] }>>,
  domain: string,
): readonly LabelSpecifier[] {
  return Object.hasOwn(defaultLabels, domain) ? (defaultLabels[domain]?.defaults ?? []) : [];
}

/**
 * Returns the groups of a Mapping in the domain, each with the default labels before its own.
 * Without any mention of the domain there are none, and its requests have the defaults alone, as
 * the group `default` (docs/reference/kinds/rate-limit.md).
 */
export function labelGroups(
  { labels }: Pick<MappingSpec, 'labels'>,
  { domain, defaults }: Labelling,
): readonly LabelGroup[] {
  const groups = Object.hasOwn(labels, domain) ? (labels[domain] ?? []) : [];
  return groups.map(({ name, specifiers }) => ({ name, specifiers: [...defaults, ...specifiers] }));
}

/**
 * Returns `rate_limits` of a Mapping's route, and its filters. Envoy takes those of the virtual
 * host only when the route has none. So the defaults of domains that the Mapping leaves out stand
 * here too.
 */
export function routeRateLimits(
  spec: Pick<MappingSpec, 'labels'>,
  { domains }: Labellings,
): readonly [action: JsonObject, route: JsonObject] {
  const groups = domains.map(labelling => [labelling, labelGroups(spec, labelling)] as const);
  if (groups.every(([, own]) => own.length === 0)) return [{}, {}];
  return labelledRoute(
    groups.map(([labelling, own]) => {
      const lists = own.map(({ specifiers }) => specifiers);
      return [labelling.domain, lists.length > 0 ? lists : defaultLists(labelling)];
    }),
  );
}

/**
 * Returns the same for a route of Gateway API. It has the group of each limit that targets it,
 * beside the group `default`. Limits that count the same requests share one.
 */
export function targetRateLimits(
  limits: readonly Resource<'RateLimit'>[],
  { domains }: Labellings,
): readonly [action: JsonObject, route: JsonObject] {
  if (limits.length === 0) return [{}, {}];
  return labelledRoute(
    domains.map(labelling => {
      const own = limits.filter(({ spec }) => spec.domain === labelling.domain);
      const lists = own.flatMap(({ spec }) => spec.limits.map(({ labels }) => labels));
      const distinct = new Map(lists.map(list => [JSON.stringify(list), list])).values();
      return [labelling.domain, [...defaultLists(labelling), ...distinct]];
    }),
  );
}

type LabelLists = readonly (readonly LabelSpecifier[])[];

function defaultLists({ defaults }: Labelling): LabelLists {
  return defaults.length > 0 ? [defaults] : [];
}

function labelledRoute(
  groups: readonly (readonly [domain: string, lists: LabelLists])[],
): readonly [action: JsonObject, route: JsonObject] {
  const labelled = groups.filter(([, lists]) => lists.length > 0);
  if (labelled.length === 0) return [{}, {}];
  return [
    { rate_limits: labelled.flatMap(([domain, lists]) => toRateLimits(domain, lists)) },
    withLimits(labelled.map(([domain]) => domain)),
  ];
}

/** Returns what every virtual host also has: the labels of the group `default` of each domain. */
export function hostRateLimits({ domains }: Labellings): JsonObject {
  const labelled = domains.filter(({ defaults }) => defaults.length > 0);
  if (labelled.length === 0) return {};
  return {
    rate_limits: labelled.flatMap(({ domain, defaults }) => toRateLimits(domain, [defaults])),
    ...withLimits(labelled.map(({ domain }) => domain)),
  };
}

function toRateLimits(domain: string, lists: LabelLists): readonly JsonObject[] {
  return lists.map(specifiers => toRateLimit(specifiers, stageOf(domain)));
}
