import '#certificates/reflect-metadata.ts';
import { createHash } from 'node:crypto';
import {
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { exportKey, generateKeys, type KeyPair, SIGNING_ALGORITHM } from './key-pair.ts';
import { serialNumber } from './serial-number.ts';
import { SKEW_MS } from './skew.ts';

const ACME_IDENTIFIER = '1.3.6.1.5.5.7.1.31';
/** DER of an OCTET STRING with the 32 bytes of a SHA-256. */
const OCTET_STRING = Buffer.from([0x04, 0x20]);
const LIFE_MS = 3_600_000;

/**
 * Makes the self-signed certificate that proves a name to an ACME authority over TLS (RFC 8737,
 * section 3). That of acme-client may sign certificates alone, so Envoy rejects it.
 */
export async function acmeProof(
  hostname: string,
  keyAuthorization: string,
  now: number,
): Promise<KeyPair> {
  const keys = await generateKeys();
  const digest = createHash('sha256').update(keyAuthorization).digest();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: 'CN=ACME challenge',
    notBefore: new Date(now - SKEW_MS),
    notAfter: new Date(now + LIFE_MS),
    signingAlgorithm: SIGNING_ALGORITHM,
    keys,
    extensions: [
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new SubjectAlternativeNameExtension([{ type: 'dns', value: hostname }]),
      new Extension(ACME_IDENTIFIER, true, Buffer.concat([OCTET_STRING, digest])),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: await exportKey(keys.privateKey) };
}
