/**
 * Envoy's word for the health of an endpoint, as the discovery service reports it. See Envoy's
 * config.core.v3.HealthStatus.
 */
export const HEALTH_STATUSES = ['HEALTHY', 'UNHEALTHY', 'DRAINING', 'DEGRADED'] as const;

/** Where an instance runs. See Envoy's config.core.v3.Locality. */
export type Locality = {
  readonly region?: string | undefined;
  readonly zone?: string | undefined;
  readonly sub_zone?: string | undefined;
};

/**
 * One running copy of a service, as the proxies reach it. The fields are named as in Envoy's
 * endpoint messages.
 */
export type Instance = {
  /** An IPv4 or IPv6 address in the spelling of RFC 5952, without brackets. */
  readonly address: string;
  readonly port: number;
  readonly hostname?: string | undefined;
  /** Default: HEALTHY. */
  readonly health_status?: (typeof HEALTH_STATUSES)[number] | undefined;
  /** 1 to 100. Default: 1. */
  readonly load_balancing_weight?: number | undefined;
  readonly locality?: Locality | undefined;
};

/** All known instances, by service name. */
export type Instances = ReadonlyMap<string, readonly Instance[]>;
