import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { addedHeaderProblems } from './added-headers.ts';
import { type EdgeRateLimits, edgeRateLimits, type UsedByGateways } from './edge-rate-limits.ts';
import { type EdgeFilters, edgeFilters } from './ext-authz/edge-filters.ts';
import type { RouteReferences } from './ext-authz/tokens-on.ts';
import { otherForwardedHeaders } from './forwarded-headers.ts';
import { portProblems } from './listeners/edge-port-problems.ts';
import {
  type EdgePort,
  type EdgeTable,
  edgePorts,
  edgeTables,
  takenBy,
} from './listeners/edge-ports.ts';
import type { ServedPort } from './listeners/listener.ts';
import { servedEdgePort } from './listeners/served-edge-port.ts';
import { removedTraceHeaders } from './listeners/tracing.ts';
import type { Memo } from './memo.ts';
import { type CompileOptions, DEFAULT_EDGE_TLS } from './options.ts';
import { strippedLabelProblems } from './rate-limits/stripped-label-problems.ts';
import {
  type RemovedHeaders,
  strippedMatchProblems,
} from './rate-limits/stripped-match-problems.ts';
import { type HostGuards, hostGuards } from './routes/host-guard.ts';
import { letterCaseProblems } from './routes/letter-case.ts';
import { type HeaderSetters, headerSetters } from './set-headers.ts';
import { type EdgeHost, edgeHosts } from './tls/edge-hosts.ts';
import { type HostCover, hostCover, uncoveredProblems } from './tls/host-cover.ts';

/** What only the edge has: rate limits, Filters and Hosts. */
export type Edge = {
  readonly limits: EdgeRateLimits;
  readonly filters: EdgeFilters;
  /**
   * Its tables of routes, each with what Hosts demand of requests. That of all Hosts comes first.
   * Undefined: there are no Hosts.
   */
  readonly tables: readonly (EdgeTable & { readonly guards: HostGuards | undefined })[];
  /** What sets request headers before a Mapping's own changes. */
  readonly settersOf: HeaderSetters;
  /** Its ports without those of Gateways. */
  readonly ports: readonly ServedPort[];
  /** Which Mappings its names have. */
  readonly choices: HostCover['choices'];
  /** Ids of the TLSContexts that its Hosts use. */
  readonly contexts: ReadonlySet<string>;
  /** Ids of the resources behind its routes, besides Mappings and ProxyConfigs. */
  readonly routeOrigins: readonly string[];
  /** Problems of Filters and Hosts, and of Mappings beside them. */
  readonly problems: readonly Problem[];
};

/** What the Gateways that share an edge have there. */
export type OfGateways = {
  /** Their TCP ports, with the ids of the resources that have them. */
  readonly ports: ReadonlyMap<number, string>;
  readonly filters: RouteReferences;
} & UsedByGateways;

/** Returns the edge's own parts. `resources` are those of the edge. */
export function edgeOf(
  resources: ResourceSet,
  options: CompileOptions,
  memo: Memo,
  gateways: OfGateways,
): Edge {
  const limits = edgeRateLimits(resources, gateways, options, memo);
  const { contexts, hosts, problems } = edgeHosts(resources);
  const cover = hostCover(hosts, resources);
  const filters = edgeFilters(resources, options, memo, gateways.filters, cover);
  const settersOf = headerSetters(filters, limits.gatewayHeaders, resources.mappings);
  const claims = {
    ports: edgePorts(resources, hosts, options),
    gatewayPorts: gateways.ports,
  };
  const ports = claims.ports.filter(port => takenBy(port, claims) === undefined);
  const httpsPort = httpsPortOf(ports, options);
  return {
    limits,
    filters,
    settersOf,
    tables: edgeTables(ports, resources.config).map(table => ({
      ...table,
      guards: hosts.length === 0 ? undefined : hostGuards(hosts, cover, { ...table, httpsPort }),
    })),
    ports: ports.map(port => servedEdgePort(port, hosts, limits.listener)),
    choices: cover.choices,
    contexts,
    routeOrigins: [
      ...limits.origins,
      ...filters.origins,
      ...hosts.flatMap(({ origins }) => origins),
    ],
    problems: [
      ...problems,
      ...uncoveredProblems(resources, hosts, cover),
      ...portProblems(resources, { ...claims, hosts, options }),
      ...filters.problems,
      ...addedHeaderProblems(resources, settersOf),
      ...letterCaseProblems(resources.mappings, filters),
      ...removedHeaders(resources).flatMap(removed => [
        ...strippedMatchProblems(resources.mappings, removed),
        ...limits.labellings.domains.flatMap(labelling =>
          strippedLabelProblems({ ...resources, rateLimits: limits.applied }, labelling, removed),
        ),
      ]),
    ],
  };
}

/** Returns what is removed from every request, whatever the RateLimits set. */
function removedHeaders({
  config,
  tracingServices,
}: Pick<ResourceSet, 'config' | 'tracingServices'>): readonly RemovedHeaders[] {
  const removed = (header: string) => `"${header}" is removed from what clients send`;
  return [
    {
      names: removedTraceHeaders(tracingServices[0]?.spec),
      why: header =>
        `${removed(header)}, since the TracingService has no \`continue_client_traces: true\``,
    },
    {
      names: otherForwardedHeaders(config),
      why: header =>
        `${removed(header)}, since the Module has no \`xff_num_trusted_hops\` for a proxy in front`,
    },
  ];
}

/**
 * Clients may reach the ports by others, which an option then tells. No browser speaks the PROXY
 * protocol, so ports with it come last.
 */
function httpsPortOf(ports: readonly EdgePort[], options: CompileOptions) {
  const { edgeTls = DEFAULT_EDGE_TLS, httpsPort } = options;
  const speaking = ports
    .filter(({ takes }) => takes.tls)
    .sort((a, b) => Number(a.proxyProtocol) - Number(b.proxyProtocol));
  return (host: EdgeHost | undefined) =>
    httpsPort ??
    speaking.find(({ binds }) => host === undefined || binds(host))?.address.port ??
    edgeTls.port;
}
