import { join } from 'node:path';
import { spiffeId } from '#certificates/identity.ts';
import type { JsonObject } from '#protos/json.ts';

/**
 * Where an Envoy finds the identity that it has from the start. It needs one for every request by
 * mutual TLS.
 */
export type IdentityFiles = {
  /** The folder with `tls.crt`, `tls.key` and `ca.crt`. Envoy follows it as they are renewed. */
  readonly tlsFolder: string;
  /** The folder with `identity.yaml` and `roots.yaml` (`identitySecrets`). */
  readonly secretsFolder: string;
  readonly trustDomain: string;
};

/** Names of the files in `secretsFolder`. */
export type IdentitySecretName = 'identity' | 'roots';

const TLS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3';

/**
 * Returns a file for Envoy that names the files of `tlsFolder`. Envoy follows those files only
 * where a secret names them, and a secret only where a file of its own holds it. Source: Envoy's
 * page "Secret discovery service (SDS)", key rotation.
 */
export function identitySecret(name: IdentitySecretName, tlsFolder: string): JsonObject {
  const file = (base: string) => ({ filename: join(tlsFolder, base) });
  const watched_directory = { path: tlsFolder };
  const content =
    name === 'identity'
      ? {
          tls_certificate: {
            certificate_chain: file('tls.crt'),
            private_key: file('tls.key'),
            watched_directory,
          },
        }
      : { validation_context: { trusted_ca: file('ca.crt'), watched_directory } };
  return { resources: [{ '@type': `${TLS}.Secret`, name, ...content }] };
}

/**
 * Returns the transport socket for mutual TLS 1.3 with our service of node group `group`, and no
 * other peer.
 */
export function identityTls(
  files: IdentityFiles,
  group: string,
  alpn: 'h2' | 'http/1.1',
): JsonObject {
  const san = {
    san_type: 'URI',
    matcher: { exact: spiffeId({ trustDomain: files.trustDomain, group }) },
  };
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: {
      '@type': `${TLS}.UpstreamTlsContext`,
      max_session_keys: 0,
      common_tls_context: {
        tls_params: {
          tls_minimum_protocol_version: 'TLSv1_3',
          tls_maximum_protocol_version: 'TLSv1_3',
        },
        tls_certificate_sds_secret_configs: [fromFile('identity', files)],
        combined_validation_context: {
          default_validation_context: { match_typed_subject_alt_names: [san] },
          validation_context_sds_secret_config: fromFile('roots', files),
        },
        alpn_protocols: [alpn],
      },
    },
  };
}

function fromFile(name: IdentitySecretName, { secretsFolder }: IdentityFiles): JsonObject {
  const path = join(secretsFolder, `${name}.yaml`);
  return { name, sds_config: { path_config_source: { path }, resource_api_version: 'V3' } };
}
