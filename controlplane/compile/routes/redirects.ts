import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { keptFilter } from '../kept-lists.ts';
import type { KeyedMapping } from '../mapping-keys.ts';
import { problemOf } from '../problem-of.ts';

/** Mappings by what they do with requests. */
export type SplitMappings = {
  /** Those that forward requests to a service. */
  readonly forwarded: readonly KeyedMapping[];
  /** Those that redirect, by match. */
  readonly redirects: ReadonlyMap<string, Resource<'Mapping'>>;
  /** A Problem for each that gets no request. */
  readonly overruled: readonly Problem[];
};

/**
 * Splits Mappings into those that forward and those that redirect. Of Mappings that match the same
 * requests, which come ordered by id, the first decides, since they share one route.
 */
export function splitRedirects(mappings: readonly KeyedMapping[]): SplitMappings {
  if (redirecting(mappings).length === 0)
    return { forwarded: mappings, redirects: new Map(), overruled: [] };
  const firsts = new Map<string, Resource<'Mapping'>>();
  const redirects = new Map<string, Resource<'Mapping'>>();
  const forwarded: KeyedMapping[] = [];
  const overruled: Problem[] = [];
  for (const keyed of mappings) {
    const { mapping, keys } = keyed;
    const first = firsts.get(keys.match) ?? mapping;
    firsts.set(keys.match, first);
    const { host_redirect } = first.spec;
    if (first === mapping && host_redirect) redirects.set(keys.match, mapping);
    else if (host_redirect || mapping.spec.host_redirect)
      overruled.push(overruledBy(mapping, first));
    else forwarded.push(keyed);
  }
  return { forwarded, redirects, overruled };
}

const redirecting = keptFilter(({ mapping }: KeyedMapping) => mapping.spec.host_redirect);

function overruledBy(mapping: Resource<'Mapping'>, { id, spec }: Resource<'Mapping'>): Problem {
  const does = spec.host_redirect ? 'redirects them' : 'sends them to a service';
  const message = `the Mapping is not served: ${id}, which matches the same requests, ${does}`;
  return problemOf(mapping, 'error', 'spec.host_redirect', message);
}
