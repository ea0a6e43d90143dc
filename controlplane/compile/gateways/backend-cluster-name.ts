import type { BackendTarget, BackendTls } from '#controlplane/gateway-api/served-gateway.ts';

/** A cluster that never exists. Its share of requests is answered 500, of connections closed. */
export const NO_BACKEND = 'Service/unresolved';

/** What a cluster is for: requests, calls of gRPC by HTTP/2, or bytes of any protocol. */
export type Carried = 'http' | 'grpc' | 'bytes';

const SUFFIXES = { http: '', grpc: '~grpc', bytes: '~bytes' } as const;
/** Bytes inside TLS of ours. Other routes may pass on what clients send to the same port. */
const SECURED_BYTES = '~tls';
const DATAGRAMS = '~udp';

/** Returns the names of all clusters of a port of a Service. */
export function backendClusterNames(target: BackendTarget): readonly string[] {
  return (['http', 'grpc', 'bytes'] as const).map(carried => backendClusterName(target, carried));
}

/** Returns the name of the cluster of a port of a Service. */
export function backendClusterName(target: BackendTarget, carried: Carried): string {
  const { name, namespace, port, tls } = target;
  const suffix = carried === 'bytes' ? ofBytes(target) : SUFFIXES[carried];
  return `Service/${namespace}/${name}:${port}${suffix}${shownSuffix(tls)}`;
}

function ofBytes({ protocol, tls }: BackendTarget): string {
  if (protocol === 'udp') return DATAGRAMS;
  return tls === undefined ? SUFFIXES.bytes : SECURED_BYTES;
}

/** Gateways that share an edge may show different certificates to a backend. */
function shownSuffix(tls: BackendTls | undefined): string {
  if (tls === undefined || tls === 'closed' || tls.clientCertificate === undefined) return '';
  const { name, namespace } = tls.clientCertificate;
  return `~${namespace}/${name}`;
}

/** Returns whether a cluster carries bytes of any protocol to a backend. */
export function carriesBytes(cluster: string): boolean {
  return /^Service\/[^~]*~(?:bytes|tls|udp)(?:~|$)/.test(cluster);
}

/** Returns the port of a Service whose cluster has this name, or undefined for another cluster. */
export function backendOfCluster(
  cluster: string,
): Pick<BackendTarget, 'name' | 'namespace' | 'port'> | undefined {
  const [, namespace, name, port] = /^Service\/([^/]+)\/([^:]+):(\d+)(?:~|$)/.exec(cluster) ?? [];
  if (namespace === undefined || name === undefined) return undefined;
  return { namespace, name, port: Number(port) };
}
