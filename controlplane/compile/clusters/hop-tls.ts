import { IDENTITY_SECRET, ROOTS_SECRET, spiffeId } from '#certificates/identity.ts';
import type { JsonObject } from '#protos/json.ts';
import { extension } from '../extension.ts';
import { quoteRegex } from '../quote-regex.ts';
import { secretConfig } from './secret-config.ts';

/** Which peers of the trust domain are meant. */
export type Peers =
  /** Those of these node groups. */
  | { readonly groups: readonly string[] }
  /**
   * The proxies of a service: node group `service`, or `service-<number>` where each instance is a
   * group of its own.
   */
  | { readonly service: string };

/**
 * Mutual TLS 1.3 with HTTP/2 to proxies or services of ours: nobody else is talked to, nothing is
 * sent in plain text.
 */
export function hopClientTls(trustDomain: string, peers: Peers): JsonObject {
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: extension('transport_sockets.tls.v3.UpstreamTlsContext', {
      common_tls_context: commonTls(trustDomain, peers),
      // Each connection proves anew who is there.
      max_session_keys: 0,
    }),
  };
}

/** Mutual TLS 1.3 that is demanded of whoever connects: others are refused in the handshake. */
export function hopServerTls(trustDomain: string, peers: Peers): JsonObject {
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: extension('transport_sockets.tls.v3.DownstreamTlsContext', {
      common_tls_context: commonTls(trustDomain, peers),
      require_client_certificate: true,
      disable_stateless_session_resumption: true,
      disable_stateful_session_resumption: true,
    }),
  };
}

/**
 * Minimum and maximum are written, since Envoy's maximum for connections that it makes is TLS 1.2.
 */
function commonTls(trustDomain: string, peers: Peers): JsonObject {
  return {
    tls_params: {
      tls_minimum_protocol_version: 'TLSv1_3',
      tls_maximum_protocol_version: 'TLSv1_3',
    },
    tls_certificate_sds_secret_configs: [secretConfig(IDENTITY_SECRET)],
    combined_validation_context: {
      default_validation_context: {
        match_typed_subject_alt_names: matchers(trustDomain, peers).map(matcher => ({
          san_type: 'URI',
          matcher,
        })),
      },
      validation_context_sds_secret_config: secretConfig(ROOTS_SECRET),
    },
    alpn_protocols: ['h2'],
  };
}

function matchers(trustDomain: string, peers: Peers): readonly JsonObject[] {
  const name = (group: string) => spiffeId({ trustDomain, group });
  if ('groups' in peers) return peers.groups.map(group => ({ exact: name(group) }));
  return [{ safe_regex: { regex: `${quoteRegex(name(peers.service))}(-[0-9]+)?` } }];
}
