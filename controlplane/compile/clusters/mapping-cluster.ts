import { formatHostPort } from '#grpc/host-port.ts';
import type { JsonObject } from '#protos/json.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import { askedService } from '#resources/kinds/mapping/mapping-tls.ts';
import type { Service } from '#resources/words/service.ts';
import { type ClusterParts, toCluster } from './cluster.ts';
import { BUILT_IN } from './discovery-cluster.ts';
import { edsConfig } from './eds-config.ts';
import { type Hop, hopService } from './hop.ts';
import { hopClientTls } from './hop-tls.ts';
import { discoveredMembers, membersOf } from './members.ts';
import { type ServiceTls, upstreamTls } from './upstream-tls.ts';

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/**
 * The service as it is mostly written, `name[.namespace][:port]`: the name of its cluster, if that
 * is free.
 */
export function serviceName(spec: MappingSpec): string {
  const { scheme, host, port } = askedService(spec);
  return port === DEFAULT_PORTS[scheme] ? host : formatHostPort({ host, port });
}

/** Mappings of equal key, and of one TLSContext or none, have equal clusters. */
export function clusterKey(spec: MappingSpec): string {
  const { resolver, connect_timeout_ms, hop_tls } = spec;
  const { scheme, host, port } = askedService(spec);
  const more = [hop_tls, asksForDefaultPort(spec) ? 'port' : undefined].filter(
    each => each !== undefined,
  );
  return [scheme, host, port, resolver, connect_timeout_ms, ...more].join(' ');
}

/** To the discovery service `name:80` is not `name`, whose main port may be another. */
function asksForDefaultPort(spec: MappingSpec): boolean {
  const { scheme, port, portGiven } = askedService(spec);
  return spec.resolver === 'sds' && portGiven && port === DEFAULT_PORTS[scheme];
}

/** What TLS to services is made of. */
export type UpstreamTls = {
  readonly caFile: string;
  readonly hop: Hop;
  /** Of the Mappings that name a TLSContext, by the Mapping's id. */
  readonly contexts: ReadonlyMap<string, ServiceTls>;
};

/**
 * The cluster of a Mapping's service. With resolver `sds` its port, where it has one, says which of
 * the instances' ports is meant.
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
 * The discovery service calls services of Kubernetes `name.namespace`, whatever more their DNS
 * names have, and `:port` after it picks one of several.
 */
function discoveredName({ host, port, portGiven }: Service): string {
  const name = host.replace(/^([^.]+\.[^.]+)\.svc(\..*)?$/, '$1');
  return portGiven ? formatHostPort({ host: name, port }) : name;
}
