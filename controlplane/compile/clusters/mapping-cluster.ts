import { formatHostPort } from '#grpc/host-port.ts';
import type { JsonObject } from '#protos/json.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import { askedService } from '#resources/kinds/mapping/mapping-tls.ts';
import type { Service } from '#resources/words/service.ts';
import { type ClusterParts, toCluster } from './cluster.ts';
import { BUILT_IN, edsConfig } from './eds-config.ts';
import { type Hop, hopService } from './hop.ts';
import { hopClientTls } from './hop-tls.ts';
import { discoveredMembers, membersOf } from './members.ts';
import { type ServiceTls, upstreamTls } from './upstream-tls.ts';

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/**
 * Returns the usual spelling of a service, `name[.namespace][:port]`. Its cluster has this name if
 * it is free.
 */
export function serviceName(spec: MappingSpec): string {
  const { scheme, host, port } = askedService(spec);
  return port === DEFAULT_PORTS[scheme] ? host : formatHostPort({ host, port });
}

/**
 * Returns a key. Mappings with equal keys, and with one TLSContext or none, have equal clusters.
 */
export function clusterKey(spec: MappingSpec): string {
  const { resolver, connect_timeout_ms, hop_tls } = spec;
  const { scheme, host, port } = askedService(spec);
  const more = [hop_tls, asksForDefaultPort(spec) ? 'port' : undefined].filter(
    each => each !== undefined,
  );
  return [scheme, host, port, resolver, connect_timeout_ms, ...more].join(' ');
}

/** For the discovery service `name:80` differs from `name`, whose main port may be another. */
function asksForDefaultPort(spec: MappingSpec): boolean {
  const { scheme, port, portGiven } = askedService(spec);
  return spec.resolver === 'sds' && portGiven && port === DEFAULT_PORTS[scheme];
}

/** The inputs of TLS to services. */
export type UpstreamTls = {
  readonly caFile: string;
  readonly hop: Hop;
  /** The settings of Mappings that name a TLSContext, by the Mapping's id. */
  readonly contexts: ReadonlyMap<string, ServiceTls>;
};

/**
 * Returns the cluster of a Mapping's service. With resolver `sds` a given port selects one of the
 * instances' ports.
 */
export function mappingCluster(
  name: string,
  spec: MappingSpec,
  { caFile, hop }: Pick<UpstreamTls, 'caFile' | 'hop'>,
  tls?: ServiceTls,
): JsonObject {
  const { resolver, connect_timeout_ms } = spec;
  const service = askedService(spec);
  const parts: ClusterParts = {
    connectTimeoutMs: connect_timeout_ms,
    members:
      resolver === 'sds'
        ? discoveredMembers(discoveredName(service), edsConfig(BUILT_IN))
        : membersOf(name, service, spec),
    protocol: spec.grpc ? 'http2' : 'http1',
    traffic: spec,
    service: serviceName(spec),
  };
  const hopTo = hopService(spec, hop);
  if (hopTo !== undefined) {
    const transportSocket = hopClientTls(hop.trustDomain, { service: hopTo });
    return toCluster(name, { ...parts, protocol: 'hop', transportSocket });
  }
  if (service.scheme === 'http') return toCluster(name, parts);
  return toCluster(name, {
    ...parts,
    transportSocket: upstreamTls(service.host, caFile, spec.grpc ? 'h2' : 'http/1.1', tls),
  });
}

/**
 * Returns the name by which the discovery service knows a Mapping's service.
 * @returns undefined when its instances come from elsewhere
 */
export function discoveredService(spec: MappingSpec): string | undefined {
  return spec.resolver === 'sds' ? discoveredName(askedService(spec)) : undefined;
}

/**
 * Returns the discovery service's name of a service. It is `name.namespace` for a service of
 * Kubernetes, without the rest of its DNS name. `:port` after it selects one of several ports.
 */
function discoveredName({ host, port, portGiven }: Service): string {
  const name = host.replace(/^([^.]+\.[^.]+)\.svc(\..*)?$/, '$1');
  return portGiven ? formatHostPort({ host: name, port }) : name;
}
