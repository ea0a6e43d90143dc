import type { Compiled, CompiledResource } from '#controlplane/compile/compiled.ts';
import { statName } from '#controlplane/compile/stat-name.ts';
import type { JsonObject } from '#protos/json.ts';
import { CLUSTER } from '#protos/type-url.ts';
import type { HostPort } from '#resources/words/host.ts';

/** TLS that the proxies speak to a service. */
export type UpstreamTls = {
  /** The service's certificate must be for one of these names. */
  readonly subjects: readonly string[];
  /** The server name in the handshake. Absent for an address. */
  readonly sni?: string;
  /** A file of authorities on the proxies' machines, the name of a secret with them, or PEM. */
  readonly authorities:
    | { readonly file: string }
    | { readonly secret: string }
    | { readonly pem: string };
  /** The name of the secret with the gateway's own certificate. Absent: none. */
  readonly certificate?: string;
  readonly alpn: readonly string[];
};

/** A cluster of one node group, as the proxies run it. */
export type Upstream = {
  readonly group: string;
  readonly cluster: string;
  /** The cluster's name in statistics. */
  readonly statName: string;
  /** Ids of the resources that it comes from. */
  readonly origins: readonly string[];
  /** The members that stand in the cluster. */
  readonly hosts: readonly HostPort[];
  /** Which addresses of a name are used. */
  readonly family: 'any' | 4 | 6;
  /** The name that a discovery service is asked for. Absent: the members are `hosts`. */
  readonly discovered?: string;
  /** Absent: plain text. `hop` is TLS whose certificate is for a URI, as that of our proxies. */
  readonly tls?: UpstreamTls | 'hop';
  /** The time from one check of a member to the next, in ms. Absent: none are made. */
  readonly checkMs?: number;
};

/** Returns the clusters that a node group's proxies get, with what counts about their members. */
export function upstreamsOf(group: string, { resources }: Compiled): readonly Upstream[] {
  return (resources.get(CLUSTER) ?? []).map(cluster => upstreamOf(group, cluster));
}

/** The fields of Envoy's `Cluster` that the compiler writes and that count here. */
type ClusterJson = {
  readonly alt_stat_name?: string;
  readonly dns_lookup_family?: string;
  readonly eds_cluster_config?: { readonly service_name: string };
  readonly health_checks?: readonly [{ readonly interval: string }];
  readonly load_assignment?: {
    readonly endpoints: readonly {
      readonly lb_endpoints: readonly { readonly endpoint: { readonly address: Address } }[];
    }[];
  };
  readonly transport_socket?: { readonly typed_config: TlsJson };
};

type Address = {
  readonly socket_address: { readonly address: string; readonly port_value: number };
};

type Subjects = {
  readonly match_typed_subject_alt_names: readonly {
    readonly san_type: string;
    readonly matcher: { readonly exact: string };
  }[];
};

type TlsJson = {
  readonly sni?: string;
  readonly common_tls_context: {
    readonly alpn_protocols?: readonly string[];
    readonly tls_certificate_sds_secret_configs?: readonly [{ readonly name: string }];
    readonly validation_context?: Subjects & { readonly trusted_ca: TrustedCa };
    readonly combined_validation_context?: {
      readonly default_validation_context: Subjects;
      readonly validation_context_sds_secret_config: { readonly name: string };
    };
  };
};

type TrustedCa = { readonly filename: string } | { readonly inline_string: string };

/** What did not change is the very same object in the next compilation. */
const known = new WeakMap<JsonObject, Upstream>();

function upstreamOf(group: string, compiled: CompiledResource): Upstream {
  const { json, name, origins } = compiled;
  const last = known.get(json);
  if (last?.group === group && last.cluster === name && last.origins === origins) return last;
  const upstream = toUpstream(group, compiled);
  known.set(json, upstream);
  return upstream;
}

function toUpstream(group: string, { name: cluster, json, origins }: CompiledResource): Upstream {
  const written = json as unknown as ClusterJson;
  const discovered = written.eds_cluster_config?.service_name;
  const check = written.health_checks?.[0];
  const tls = written.transport_socket && toTls(written.transport_socket.typed_config);
  return {
    ...{ group, cluster, origins, hosts: hostsOf(written) },
    statName: statName(written.alt_stat_name ?? cluster),
    family: FAMILIES[written.dns_lookup_family ?? ''] ?? 'any',
    ...(discovered === undefined ? {} : { discovered }),
    ...(tls === undefined ? {} : { tls }),
    ...(check === undefined ? {} : { checkMs: millisecondsOf(check.interval) }),
  };
}

/** Returns what `toDuration` was given. */
function millisecondsOf(duration: string): number {
  return Math.round(Number.parseFloat(duration) * 1_000);
}

const FAMILIES: Readonly<Record<string, 4 | 6>> = { V4_ONLY: 4, V6_ONLY: 6 };

function hostsOf({ load_assignment }: ClusterJson): readonly HostPort[] {
  const endpoints = load_assignment?.endpoints.flatMap(({ lb_endpoints }) => lb_endpoints) ?? [];
  return endpoints.map(({ endpoint }) => {
    const { address: host, port_value: port } = endpoint.address.socket_address;
    return { host, port };
  });
}

function toTls({ common_tls_context: common, sni }: TlsJson): UpstreamTls | 'hop' {
  const { combined_validation_context: combined, validation_context: plain } = common;
  const { match_typed_subject_alt_names: names = [] } =
    plain ?? combined?.default_validation_context ?? {};
  if (names.length === 0 || names.some(({ san_type }) => san_type === 'URI')) return 'hop';
  const secret = combined?.validation_context_sds_secret_config.name ?? '';
  const certificate = common.tls_certificate_sds_secret_configs?.[0].name;
  return {
    subjects: names.map(({ matcher }) => matcher.exact),
    ...(sni === undefined ? {} : { sni }),
    authorities: plain === undefined ? { secret } : trusted(plain.trusted_ca),
    ...(certificate === undefined ? {} : { certificate }),
    alpn: common.alpn_protocols ?? [],
  };
}

function trusted(ca: TrustedCa): UpstreamTls['authorities'] {
  return 'filename' in ca ? { file: ca.filename } : { pem: ca.inline_string };
}
