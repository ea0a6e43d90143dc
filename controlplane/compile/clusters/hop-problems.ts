import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { problemOf } from '../problem-of.ts';
import type { Hop } from './hop.ts';

/**
 * Returns Problems for Mappings with TLS of their own to a service that, as far as is known, has a
 * proxy before it.
 */
export function hopProblems(
  mappings: readonly Resource<'Mapping'>[],
  hop: Hop,
): readonly Problem[] {
  if (!hop.isDefault) return [];
  return mappings
    .filter(({ spec: { hop_tls, host_redirect, resolver, tls } }) => {
      return tls !== false && !host_redirect && resolver === 'sds' && hop_tls === undefined;
    })
    .map(mapping => problemOf(mapping, 'warning', 'spec.tls', REFUSED));
}

const REFUSED =
  "with `HOP_TLS` the instances of `resolver: sds` are proxies, which accept only the gateway's certificates and reject this TLS. For instances without a proxy write `hop_tls: false`";
