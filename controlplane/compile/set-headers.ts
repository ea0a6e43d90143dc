import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import type { Resource } from '#resources/resource.ts';
import { headerIdentity } from '#resources/words/header-identity.ts';
import { bypasses } from './bypasses.ts';
import type { EdgeFilters } from './ext-authz/edge-filters.ts';
import { mappingDomain } from './mapping-domain.ts';

/** The resource that sets a request header before a route's own changes. */
export type HeaderSetter = { readonly kind: 'Filter' | 'RateLimit'; readonly who: string };

/** Returns what of the gateway may set a header of a Mapping's requests, if anything does. */
export type HeaderSetters = (spec: MappingSpec, header: string) => HeaderSetter | undefined;

const LIMIT: HeaderSetter = { kind: 'RateLimit', who: "a RateLimit's `injectRequestHeaders`" };

/**
 * Returns the Filters that may run on a Mapping's host, unless its route is without filters, and
 * the limits, which may set `gatewayHeaders` on all requests. No service gets what is redirected.
 */
export function headerSetters(
  { settersOn }: Pick<EdgeFilters, 'settersOn'>,
  gatewayHeaders: readonly string[],
  mappings: readonly Resource<'Mapping'>[],
): HeaderSetters {
  const own = new Set(gatewayHeaders);
  const isBypassed = bypasses(mappings);
  return (spec, header) => {
    if (spec.host_redirect) return undefined;
    const name = headerIdentity(header);
    const filter = settersOn(mappingDomain(spec)).get(name);
    if (filter !== undefined && !isBypassed(spec))
      return { kind: 'Filter', who: `Filter ${filter.namespace}/${filter.name}` };
    return own.has(name) ? LIMIT : undefined;
  };
}
