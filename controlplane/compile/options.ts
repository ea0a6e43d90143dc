import type { HostPort } from '#resources/words/host.ts';
import type { Memo } from './memo.ts';

export type CompileOptions = {
  /** Where the edge listens when no ProxyConfig says so. */
  readonly edge: HostPort;
  /** Where the edge listens for TLS, when a Host has it; absent: DEFAULT_EDGE_TLS. */
  readonly edgeTls?: HostPort;
  /**
   * The port that clients use for https, to which they are redirected; absent: that of `edgeTls`.
   */
  readonly httpsPort?: number;
  /**
   * The built-in discovery service, which every bootstrap reaches as `sds` (gRPC) and `sds-rest`.
   */
  readonly sds: HostPort;
  /**
   * The built-in rate limit service, which the edge asks unless a RateLimitService names another.
   */
  readonly rateLimit: HostPort;
  /** The built-in service that runs filters. */
  readonly extAuthz: HostPort;
  /**
   * What the bootstraps of the group's proxies can reach besides; undefined: all that its
   * ProxyConfigs name.
   */
  readonly discoveryClusters?: ReadonlySet<string>;
  /**
   * The certificates that `https://` services are checked against: a file on the proxies' machines.
   */
  readonly caFile?: string;
  /** Whether proxies speak mutual TLS to each other; absent: in plain text. */
  readonly hopTls?: boolean;
  /** Whether our own services on other machines are asked by mutual TLS; absent: in plain text. */
  readonly serviceTls?: boolean;
  /** Whose certificates those are; absent: `gateway.internal`. */
  readonly trustDomain?: string;
  /** Results of the group's earlier compilations; one for each group. */
  readonly memo?: Memo;
};

/** Debian's place, which is also that of Envoy's official images. */
export const DEFAULT_CA_FILE = '/etc/ssl/certs/ca-certificates.crt';

export const DEFAULT_EDGE_TLS: HostPort = { host: '127.0.0.1', port: 8443 };
