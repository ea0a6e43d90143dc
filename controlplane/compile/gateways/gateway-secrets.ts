import type { SecretName, ServedGateway } from '#controlplane/gateway-api/served-gateway.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { keyPairOf, type SecretUser } from '../tls/proxy-secret.ts';

/** Returns the certificates that Gateways show to clients and to backends. */
export function gatewaySecrets(
  gateways: readonly ServedGateway[],
  { secrets }: ResourceSet,
): readonly SecretUser[] {
  return gateways.flatMap(({ clientCertificate, gateway, group, listeners }) => {
    const use = (reference: SecretName, origin: string) => {
      const found = keyPairOf(reference, secrets);
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
