import type { KeyObject, X509Certificate } from 'node:crypto';

/**
 * Returns the key of a certificate, which Node does not read before.
 * @returns undefined when OpenSSL does not know its kind. Then no private key fits it
 */
export function publicKeyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    return certificate.publicKey;
  } catch {
    return undefined;
  }
}
