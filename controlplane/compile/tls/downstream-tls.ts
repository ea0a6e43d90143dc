import type { JsonObject } from '#protos/json.ts';
import { secretConfig } from '../clusters/secret-config.ts';
import { tlsParameters } from '../clusters/tls-parameters.ts';
import { extension } from '../extension.ts';
import type { HostTls } from './host-tls.ts';
import { challengeName } from './proxy-secret.ts';

/**
 * Returns Envoy's `DownstreamTlsContext` of a Host. Certificate and authorities are referred to by
 * name, so they change without it.
 */
export function downstreamTls({ authorities, certificate, settings }: HostTls): JsonObject {
  const { alpn_protocols, cert_required } = settings;
  return tlsSocket({
    common_tls_context: {
      tls_params: tlsParameters(settings),
      tls_certificate_sds_secret_configs: [secretConfig(certificate.name)],
      ...(authorities === undefined
        ? {}
        : { validation_context_sds_secret_config: secretConfig(authorities.name) }),
      alpn_protocols,
    },
    // Envoy warns when it is left to its default.
    ...(authorities === undefined && !cert_required
      ? {}
      : { require_client_certificate: cert_required }),
    // A resumed session proves neither that the certificate is still valid, nor that its
    // authority is still trusted.
    ...(authorities === undefined
      ? {}
      : {
          disable_stateless_session_resumption: true,
          disable_stateful_session_resumption: true,
        }),
  });
}

/** Returns the TLS in which the edge proves the name of a Host to an ACME authority. */
export function challengeTls(hostname: string, protocol: string): JsonObject {
  return tlsSocket({
    common_tls_context: {
      tls_certificate_sds_secret_configs: [secretConfig(challengeName(hostname))],
      alpn_protocols: [protocol],
    },
  });
}

function tlsSocket(context: JsonObject): JsonObject {
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: extension('transport_sockets.tls.v3.DownstreamTlsContext', context),
  };
}
