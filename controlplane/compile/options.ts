import type { GatewayOptions } from '#controlplane/gateway-api/gateway-options.ts';
import type { HostPort } from '#resources/words/host.ts';
import type { Memo } from './memo.ts';

export type CompileOptions = {
  /** Address of the edge when no ProxyConfig gives one. */
  readonly edge: HostPort;
  /** Address of the edge for TLS when a Host has TLS. Default: DEFAULT_EDGE_TLS. */
  readonly edgeTls?: HostPort;
  /** The port of https in redirects to clients. Default: the port of `edgeTls`. */
  readonly httpsPort?: number;
  /**
   * The built-in discovery service, which every bootstrap reaches as `sds` (gRPC) and `sds-rest`.
   */
  readonly sds: HostPort;
  /**
   * The built-in rate limit service, which the edge asks unless a RateLimitService names another.
   */
  readonly rateLimit: HostPort;
  /** The built-in service that runs Filters. */
  readonly extAuthz: HostPort;
  /**
   * Discovery clusters in the bootstraps of the group's proxies. Undefined: all that its
   * ProxyConfigs name.
   */
  readonly discoveryClusters?: ReadonlySet<string>;
  /** Certificates that `https://` services are checked against: a file on the proxies' machines. */
  readonly caFile?: string;
  /** Whether proxies speak mutual TLS to each other. Default: plain text. */
  readonly hopTls?: boolean;
  /** Whether our own services on other machines are asked by mutual TLS. Default: plain text. */
  readonly serviceTls?: boolean;
  /** The trust domain of those certificates. Default: `gateway.internal`. */
  readonly trustDomain?: string;
  /**
   * Whether proxies count requests by route, and log sampled ones to the control plane.
   * Default: they do.
   */
  readonly figures?: boolean;
  /** Which Gateways are ours, and whose proxies serve them. Default: all, those of the edge. */
  readonly gateways?: GatewayOptions;
  /** Results of earlier compilations that all groups share. */
  readonly shared?: Memo;
  /** Results of the group's earlier compilations. Each group has its own. */
  readonly memo?: Memo;
};

/** Debian's path, which is also that of Envoy's official images. */
export const DEFAULT_CA_FILE = '/etc/ssl/certs/ca-certificates.crt';

export const DEFAULT_EDGE_TLS: HostPort = { host: '127.0.0.1', port: 8443 };
