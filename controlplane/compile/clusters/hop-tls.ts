import { IDENTITY_SECRET, ROOTS_SECRET, spiffeId } from '#certificates/identity.ts';
import type { JsonObject } from '#protos/json.ts';
import { INSTANCE } from '#resources/words/gateway-group.ts';
import { extension } from '../extension.ts';
import { quoteRegex } from '../quote-regex.ts';
import { secretConfig } from './secret-config.ts';

/** The accepted peers of the trust domain. */
export type Peers =
  /** The proxies of these node groups. */
  | { readonly groups: readonly string[] }
  /**
   * The proxies of a service: node group `service`, or `service-<number>` where each instance is a
   * group of its own.
   */
  | { readonly service: string };

/**
 * Returns mutual TLS 1.3 with HTTP/2 to our proxies or services. Other peers are rejected, and
 * nothing is sent in plain text.
 */
export function hopClientTls(trustDomain: string, peers: Peers): JsonObject {
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: extension('transport_sockets.tls.v3.UpstreamTlsContext', {
      common_tls_context: commonTls(trustDomain, peers),
      // Each connection verifies its peer again.
      max_session_keys: 0,
    }),
  };
}

/** Returns mutual TLS 1.3 for a listener. Other clients are rejected in the handshake. */
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

/** Both bounds are written, since Envoy's maximum for connections that it makes is TLS 1.2. */
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
  return [{ safe_regex: { regex: `${quoteRegex(name(peers.service))}(${INSTANCE})?` } }];
}
