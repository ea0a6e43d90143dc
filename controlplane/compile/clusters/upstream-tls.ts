import type { JsonObject } from '#protos/json.ts';
import { ipVersion } from '#resources/ip-address.ts';
import { extension } from '../extension.ts';

/** TLS 1.2 or 1.3 to a service whose certificate must be for `host` and signed by an authority of `caFile`. */
export function upstreamTls(host: string, caFile: string, alpn: 'http/1.1' | 'h2' = 'http/1.1'): JsonObject {
  const isName = ipVersion(host) === 0;
  const subject = { san_type: isName ? 'DNS' : 'IP_ADDRESS', matcher: { exact: host } };
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: extension('transport_sockets.tls.v3.UpstreamTlsContext', {
      // RFC 6066, section 3: an address is no server name.
      ...(isName ? { sni: host } : {}),
      common_tls_context: {
        tls_params: { tls_minimum_protocol_version: 'TLSv1_2', tls_maximum_protocol_version: 'TLSv1_3' },
        validation_context: {
          trusted_ca: { filename: caFile },
          match_typed_subject_alt_names: [subject],
        },
        alpn_protocols: [alpn],
      },
    }),
  };
}
