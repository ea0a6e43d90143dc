import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { keptFilter } from '../kept-lists.ts';
import { problemOf } from '../problem-of.ts';
import { type Hop, hopService } from './hop.ts';

/**
 * Returns Problems for Mappings whose service has a proxy before it, as far as is known, and that
 * have TLS of their own or a check that ends at the proxy.
 */
export function hopProblems(
  mappings: readonly Resource<'Mapping'>[],
  hop: Hop,
): readonly Problem[] {
  return [...(hop.isDefault ? rejectedTls(mappings) : []), ...shallowChecks(mappings, hop)];
}

function rejectedTls(mappings: readonly Resource<'Mapping'>[]): readonly Problem[] {
  return mappings
    .filter(({ spec: { hop_tls, host_redirect, resolver, tls } }) => {
      return tls !== false && !host_redirect && resolver === 'sds' && hop_tls === undefined;
    })
    .map(mapping => problemOf(mapping, 'warning', 'spec.tls', REFUSED));
}

const REFUSED =
  "with `HOP_TLS` the instances of `resolver: sds` are proxies, which accept only the gateway's certificates and reject this TLS. For instances without a proxy write `hop_tls: false`";

/** A connection to a proxy says nothing of the instance behind it. */
function shallowChecks(mappings: readonly Resource<'Mapping'>[], hop: Hop): readonly Problem[] {
  return checkedByTcp(mappings)
    .filter(({ spec }) => !spec.host_redirect && hopService(spec, hop) !== undefined)
    .map(mapping => problemOf(mapping, 'warning', 'spec.health_checks', SHALLOW));
}

const checkedByTcp = keptFilter(
  ({ spec }: Resource<'Mapping'>) => spec.health_checks?.[0]?.health_check.tcp !== undefined,
);

const SHALLOW =
  'a `tcp` check ends at the proxy before the instance, and says nothing about the instance itself. Write `http` or `grpc`, which the proxy passes on';
