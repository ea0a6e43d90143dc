import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { addedHeaderProblems } from './added-headers.ts';
import type { CompiledResource } from './compiled.ts';
import { type EdgeRateLimits, edgeRateLimits } from './edge-rate-limits.ts';
import { type EdgeFilters, edgeFilters } from './ext-authz/edge-filters.ts';
import { edgeTlsListener } from './listeners/edge-tls-listener.ts';
import { tlsAddressProblems } from './listeners/tls-address-problems.ts';
import { removedTraceHeaders } from './listeners/tracing.ts';
import type { Memo } from './memo.ts';
import { type CompileOptions, DEFAULT_EDGE_TLS } from './options.ts';
import { strippedMatchProblems } from './rate-limits/stripped-match-problems.ts';
import { type HostGuards, hostGuards } from './routes/host-guard.ts';
import { letterCaseProblems } from './routes/letter-case.ts';
import { type HeaderSetters, headerSetters } from './set-headers.ts';
import { edgeHosts } from './tls/edge-hosts.ts';
import { hostCover, uncoveredProblems } from './tls/host-cover.ts';

/** What only the edge has: rate limits, Filters and Hosts. */
export type Edge = {
  readonly limits: EdgeRateLimits;
  readonly filters: EdgeFilters;
  /** The demands of Hosts on requests. Undefined: there are no Hosts. */
  readonly guards: HostGuards | undefined;
  /** What sets request headers before a Mapping's own changes. */
  readonly settersOf: HeaderSetters;
  readonly tlsListener: CompiledResource | undefined;
  /** Ids of the TLSContexts that its Hosts use. */
  readonly contexts: ReadonlySet<string>;
  /** Ids of the resources behind its routes, besides Mappings and ProxyConfigs. */
  readonly routeOrigins: readonly string[];
  /** Problems of Filters and Hosts, and of Mappings beside them. */
  readonly problems: readonly Problem[];
};

/** Returns the edge's own parts. `resources` are those of the edge. */
export function edgeOf(resources: ResourceSet, options: CompileOptions, memo: Memo): Edge {
  const { edgeTls = DEFAULT_EDGE_TLS, httpsPort = edgeTls.port } = options;
  const limits = edgeRateLimits(resources, options, memo);
  const filters = edgeFilters(resources, options, memo);
  const settersOf = headerSetters(filters, limits.gatewayHeaders, resources.mappings);
  const { contexts, hosts, problems } = edgeHosts(resources);
  const cover = hostCover(hosts, resources.config.serve_other_hosts);
  const tlsListener = edgeTlsListener(hosts, edgeTls, limits.listener);
  return {
    limits,
    filters,
    settersOf,
    guards: hosts.length === 0 ? undefined : hostGuards(hosts, cover, httpsPort),
    tlsListener,
    contexts,
    routeOrigins: [
      ...limits.origins,
      ...filters.origins,
      ...hosts.flatMap(({ origins }) => origins),
    ],
    problems: [
      ...problems,
      ...uncoveredProblems(resources, hosts, cover),
      ...tlsAddressProblems(resources, tlsListener),
      ...filters.problems,
      ...addedHeaderProblems(resources, settersOf),
      ...letterCaseProblems(resources.mappings, filters),
      ...strippedMatchProblems(
        resources.mappings,
        removedTraceHeaders(resources.tracingServices[0]?.spec),
        header =>
          `"${header}" is removed from what clients send, since the TracingService has no \`continue_client_traces: true\``,
      ),
    ],
  };
}
