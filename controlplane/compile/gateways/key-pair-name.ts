import type { SecretName } from '#controlplane/gateway-api/served-gateway.ts';

/** Returns the name under which the discovery service serves the key pair of a Secret. */
export function keyPairName({ name, namespace }: SecretName): string {
  return `key-pair/${namespace}/${name}`;
}
