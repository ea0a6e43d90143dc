import '#certificates/reflect-metadata.ts';
import { isIP } from 'node:net';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type JsonGeneralName,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { type Identity, spiffeId } from '../identity.ts';
import { exportKey, generateKeys, importKey, type KeyPair, SIGNING_ALGORITHM } from './key-pair.ts';
import type { Lifetime } from './root.ts';
import { serialNumber } from './serial-number.ts';
import { SKEW_MS, wholeSecond } from './skew.ts';

type Leaf = {
  readonly commonName: string;
  readonly names: readonly JsonGeneralName[];
  readonly usages: readonly ExtendedKeyUsage[];
};

/** RFC 5280, upper bounds: ub-common-name. */
const LONGEST_COMMON_NAME = 64;

/**
 * Issues a certificate by which a proxy or service proves its node group, as a client and as a
 * server. See X.509-SVID, section 4.
 */
export function issueIdentity(
  root: KeyPair,
  identity: Identity,
  lifetime: Lifetime,
): Promise<KeyPair> {
  const { serverAuth, clientAuth } = ExtendedKeyUsage;
  const names = [{ type: 'url' as const, value: spiffeId(identity) }];
  return issueLeaf(
    root,
    { commonName: identity.group, names, usages: [serverAuth, clientAuth] },
    lifetime,
  );
}

/**
 * Issues a server certificate for literal addresses and host names, also `*.` and one or more
 * labels. Only alternative names count, as RFC 9525, section 6, says.
 */
export function issueServer(
  root: KeyPair,
  hosts: readonly string[],
  lifetime: Lifetime,
): Promise<KeyPair> {
  const names = hosts.map(host =>
    isIP(host) > 0 ? { type: 'ip' as const, value: host } : { type: 'dns' as const, value: host },
  );
  const commonName = hosts.find(host => host.length <= LONGEST_COMMON_NAME) ?? 'gateway';
  return issueLeaf(root, { commonName, names, usages: [ExtendedKeyUsage.serverAuth] }, lifetime);
}

async function issueLeaf(
  root: KeyPair,
  leaf: Leaf,
  { now, lifetimeMs }: Lifetime,
): Promise<KeyPair> {
  const issuer = new X509Certificate(root.certificate);
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: [{ CN: [leaf.commonName] }],
    issuer: issuer.subjectName.toJSON(),
    notBefore: new Date(now - SKEW_MS),
    notAfter: wholeSecond(Math.min(now + lifetimeMs, issuer.notAfter.getTime())),
    signingAlgorithm: SIGNING_ALGORITHM,
    publicKey: keys.publicKey,
    signingKey: await importKey(root.key),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([...leaf.usages]),
      new SubjectAlternativeNameExtension([...leaf.names]),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: await exportKey(keys.privateKey) };
}
