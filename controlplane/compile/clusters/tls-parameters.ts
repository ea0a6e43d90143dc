import type { JsonObject } from '#protos/json.ts';
import type { TlsSettings } from '#resources/traffic/tls-settings.ts';
import type { TlsVersion } from '#resources/traffic/tls-words.ts';

/**
 * Returns Envoy's `TlsParameters`. Both bounds are written, since Envoy's maximum for connections
 * that it makes is TLS 1.2.
 */
export function tlsParameters(settings: TlsSettings): JsonObject {
  const { cipher_suites, ecdh_curves, max_tls_version, min_tls_version } = settings;
  return {
    tls_minimum_protocol_version: VERSIONS[min_tls_version],
    tls_maximum_protocol_version: VERSIONS[max_tls_version],
    ...(cipher_suites === undefined ? {} : { cipher_suites }),
    ...(ecdh_curves === undefined ? {} : { ecdh_curves }),
  };
}

/** RFC 8996: TLS 1.2 is the oldest version, even if an older one is written. */
const VERSIONS: Readonly<Record<TlsVersion, string>> = {
  'v1.0': 'TLSv1_2',
  'v1.1': 'TLSv1_2',
  'v1.2': 'TLSv1_2',
  'v1.3': 'TLSv1_3',
};
