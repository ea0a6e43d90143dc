import type { JsonObject } from '#protos/json.ts';
import { DEFAULT_TLS_SETTINGS, type TlsSettings } from '#resources/traffic/tls-settings.ts';
import { ipVersion } from '#resources/words/ip-address.ts';
import { extension } from '../extension.ts';
import { secretConfig } from './secret-config.ts';
import { tlsParameters } from './tls-parameters.ts';

/** TLS to a service as a TLSContext defines it. */
export type ServiceTls = {
  /** Id of the TLSContext. */
  readonly context: string;
  readonly settings: TlsSettings;
  /** Name of the secret that the gateway presents to the service. Undefined: none. */
  readonly certificate: string | undefined;
  /**
   * Name of the secret with the authorities for the service's certificate. Undefined: those of a
   * file.
   */
  readonly authorities: string | undefined;
};

/**
 * Returns TLS to a service whose certificate must be for `host` and signed by an authority of
 * `caFile`. `tls` may name other authorities and another host. Keys are referred to by name, so
 * their rotation changes no cluster.
 */
export function upstreamTls(
  host: string,
  caFile: string,
  alpn: 'http/1.1' | 'h2' = 'http/1.1',
  tls?: ServiceTls,
): JsonObject {
  const { certificate, authorities, settings = DEFAULT_TLS_SETTINGS } = tls ?? {};
  const name = settings.sni ?? host;
  const isName = ipVersion(name) === 0;
  const subject = { san_type: isName ? 'DNS' : 'IP_ADDRESS', matcher: { exact: name } };
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: extension('transport_sockets.tls.v3.UpstreamTlsContext', {
      // RFC 6066, section 3: an address is not a server name.
      ...(isName ? { sni: name } : {}),
      common_tls_context: {
        tls_params: tlsParameters(settings),
        ...(certificate === undefined
          ? {}
          : { tls_certificate_sds_secret_configs: [secretConfig(certificate)] }),
        ...validation({ match_typed_subject_alt_names: [subject] }, caFile, authorities),
        alpn_protocols: [alpn],
      },
    }),
  };
}

function validation(
  subjects: JsonObject,
  caFile: string,
  authorities: string | undefined,
): JsonObject {
  if (authorities === undefined)
    return { validation_context: { trusted_ca: { filename: caFile }, ...subjects } };
  return {
    combined_validation_context: {
      default_validation_context: subjects,
      validation_context_sds_secret_config: secretConfig(authorities),
    },
  };
}
