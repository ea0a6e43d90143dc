import type {
  BackendTarget,
  BackendTls,
  CaSource,
} from '#controlplane/gateway-api/served-gateway.ts';
import type { JsonObject } from '#protos/json.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { DEFAULT_TLS_SETTINGS } from '#resources/traffic/tls-settings.ts';
import { type ClusterParts, toCluster } from '../clusters/cluster.ts';
import { BUILT_IN, edsConfig } from '../clusters/eds-config.ts';
import type { Hop } from '../clusters/hop.ts';
import { hopClientTls } from '../clusters/hop-tls.ts';
import { discoveredMembers, membersOf } from '../clusters/members.ts';
import { secretConfig } from '../clusters/secret-config.ts';
import { tlsParameters } from '../clusters/tls-parameters.ts';
import { extension } from '../extension.ts';
import { backendClusterName, type Carried } from './backend-cluster-name.ts';
import { keyPairName } from './key-pair-name.ts';

/** What decides how the members of backends are found and spoken to. */
export type BackendContext = Pick<ResourceSet, 'services' | 'knowsServices'> & {
  readonly hop: Hop;
  /** The file of authorities on the proxies' machines. */
  readonly caFile: string;
};

const CONNECT_TIMEOUT_MS = 3_000;

/** Returns Envoy's `Cluster` of a port of a Service. */
export function backendCluster(
  target: BackendTarget,
  carried: Carried,
  context: BackendContext,
): JsonObject {
  const name = backendClusterName(target, carried);
  const { protocol, tls } = target;
  const http2 = carried === 'grpc' || protocol === 'h2c';
  const alpn = carried === 'bytes' ? [] : [http2 ? 'h2' : 'http/1.1'];
  const parts: ClusterParts = {
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    members: membersOfService(name, target, context),
    protocol: http2 ? 'http2' : 'http1',
    service: `${target.name}.${target.namespace}`,
  };
  if (tls !== undefined && tls !== 'closed')
    return toCluster(name, { ...parts, transportSocket: backendTls(tls, alpn, context) });
  if (!isOurHop(target, context)) return toCluster(name, parts);
  const transportSocket = hopClientTls(context.hop.trustDomain, { service: target.name });
  return toCluster(name, { ...parts, protocol: 'hop', transportSocket });
}

/**
 * Without a cluster the instances of a described Service have our proxies beside them, as those of
 * a Mapping with the resolver `sds`. The pods of a Kubernetes Service are asked themselves.
 */
function isOurHop(target: BackendTarget, context: BackendContext): boolean {
  const { protocol } = target;
  const isHttp = protocol === 'http' || protocol === 'h2c' || protocol === 'ws';
  return isHttp && context.hop.isDefault && !context.knowsServices && isDescribed(target, context);
}

function isDescribed({ name, namespace }: BackendTarget, { services }: KnownServices): boolean {
  return services.some(each => each.name === name && each.namespace === namespace);
}

/**
 * The discovery service knows the Services of a cluster, and those that a folder describes. Any
 * other name is looked up in DNS.
 */
function membersOfService(
  cluster: string,
  target: BackendTarget,
  context: BackendContext,
): JsonObject {
  const discovered = discoveredBackend(target, context);
  if (discovered !== undefined) return discoveredMembers(discovered, edsConfig(BUILT_IN));
  return membersOf(cluster, { host: hostOf(target, context), port: target.port });
}

type KnownServices = Pick<BackendContext, 'services' | 'knowsServices'>;

/**
 * Returns the discovery service's name of a port of a Service.
 * @returns undefined when it is looked up in DNS
 */
export function discoveredBackend(
  target: BackendTarget,
  context: KnownServices,
): string | undefined {
  if (!isDescribed(target, context) && !context.knowsServices) return undefined;
  const service = backendService(target, context);
  return isBesideTcp(target, context) ? `${service}/udp` : service;
}

/** A number that both have is TCP's to the discovery service, which matters where they differ. */
function isBesideTcp(
  { name, namespace, port, protocol }: BackendTarget,
  { knowsServices, services }: KnownServices,
): boolean {
  if (protocol !== 'udp' || !knowsServices) return false;
  const service = services.find(each => each.name === name && each.namespace === namespace);
  const ports = service?.spec.ports.filter(each => each.port === port) ?? [];
  const [tcp, udp] = ['TCP', 'UDP'].map(wanted => ports.find(each => each.protocol === wanted));
  return tcp !== undefined && (tcp.targetPort ?? port) !== (udp?.targetPort ?? port);
}

/** Returns the name and port of a Service for people: `shop:80`, or `shop.namespace:80`. */
export function backendService(target: BackendTarget, context: KnownServices): string {
  return `${hostOf(target, context)}:${target.port}`;
}

function hostOf({ name, namespace }: BackendTarget, { knowsServices }: KnownServices): string {
  return namespace === 'default' && !knowsServices ? name : `${name}.${namespace}`;
}

function backendTls(
  { authorities, clientCertificate, hostname, subjectAltNames }: Exclude<BackendTls, 'closed'>,
  alpn_protocols: readonly string[],
  { caFile }: BackendContext,
): JsonObject {
  const names =
    subjectAltNames.length === 0
      ? [{ type: 'Hostname', value: hostname } as const]
      : subjectAltNames;
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: extension('transport_sockets.tls.v3.UpstreamTlsContext', {
      sni: hostname,
      common_tls_context: {
        tls_params: tlsParameters(DEFAULT_TLS_SETTINGS),
        ...(clientCertificate === undefined
          ? {}
          : { tls_certificate_sds_secret_configs: [secretConfig(keyPairName(clientCertificate))] }),
        validation_context: {
          trusted_ca:
            authorities === 'System'
              ? { filename: caFile }
              : { inline_string: bundle(authorities) },
          match_typed_subject_alt_names: names.map(({ type, value }) => ({
            san_type: type === 'Hostname' ? 'DNS' : 'URI',
            matcher: { exact: value },
          })),
        },
        ...(alpn_protocols.length === 0 ? {} : { alpn_protocols }),
      },
    }),
  };
}

/** Returns the certificates of all sources as one text. */
export function bundle(sources: readonly CaSource[]): string {
  return sources.map(({ pem }) => (pem.endsWith('\n') ? pem : `${pem}\n`)).join('');
}
