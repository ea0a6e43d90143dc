import type {
  IssuedCertificate,
  SecretName,
  ServedGateway,
} from '#controlplane/gateway-api/served-gateway.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import { issuedFor, keyPairOf, type ProxySecret, type SecretUser } from '../tls/proxy-secret.ts';

/** Returns the certificates that Gateways show to clients and to backends. */
export function gatewaySecrets(
  gateways: readonly ServedGateway[],
  { secrets }: ResourceSet,
): readonly SecretUser[] {
  return gateways.flatMap(({ clientCertificate, gateway, group, listeners }) => {
    const use = (reference: SecretName | IssuedCertificate, origin: string) => {
      const found = certificateOf(reference, origin, secrets);
      return 'value' in found ? [{ secret: found.value, group, origins: [origin] }] : [];
    };
    return [
      ...(clientCertificate === undefined ? [] : use(clientCertificate, gateway.id)),
      ...listeners.flatMap(({ origin, tls }) =>
        (tls?.certificates ?? []).flatMap(certificate => use(certificate, origin)),
      ),
    ];
  });
}

function certificateOf(
  certificate: SecretName | IssuedCertificate,
  resource: string,
  secrets: ResourceSet['secrets'],
): Parsed<ProxySecret> {
  if (!('issuedFor' in certificate)) return keyPairOf(certificate, secrets);
  return { value: issuedFor(certificate.issuedFor, { resource, field: 'spec.listeners' }) };
}
