import '#certificates/reflect-metadata.ts';
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { exportKey, generateKeys, type KeyPair, SIGNING_ALGORITHM } from './key-pair.ts';
import { serialNumber } from './serial-number.ts';
import { SKEW_MS, wholeSecond } from './skew.ts';

export type Lifetime = {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly lifetimeMs: number;
};

/**
 * Issues a new root. It may sign certificates of servers and clients, but no further authorities.
 * Each root has a different name, so that a peer that knows two roots can tell them apart. See RFC
 * 5280, 4.2.1.
 */
export async function issueRoot({ now, lifetimeMs }: Lifetime): Promise<KeyPair> {
  const keys = await generateKeys();
  const serial = serialNumber();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serial,
    name: [{ CN: [`gateway root ${serial.slice(0, 8)}`] }],
    notBefore: new Date(now - SKEW_MS),
    notAfter: wholeSecond(now + lifetimeMs),
    signingAlgorithm: SIGNING_ALGORITHM,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: await exportKey(keys.privateKey) };
}
