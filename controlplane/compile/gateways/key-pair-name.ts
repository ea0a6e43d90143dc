import type { IssuedCertificate, SecretName } from '#controlplane/gateway-api/served-gateway.ts';
import { issuedName } from '../tls/proxy-secret.ts';

/** Returns the name under which the discovery service serves a key pair. */
export function keyPairName(certificate: SecretName | IssuedCertificate): string {
  if ('issuedFor' in certificate) return issuedName(certificate.issuedFor);
  return `key-pair/${certificate.namespace}/${certificate.name}`;
}
