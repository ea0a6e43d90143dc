import { X509Certificate } from 'node:crypto';
import { isDue } from '#certificates/authority/keep-fresh.ts';
import { checkKeyPair } from '#certificates/check-pair.ts';
import { errorsOf } from '#certificates/finding.ts';
import { groupOfPeer } from '#certificates/peer.ts';
import { parseCertificates } from '#certificates/pem.ts';
import type { TlsMaterial } from '#certificates/tls-material.ts';
import type { Clock } from './clock.ts';

export type IdentityOf = {
  readonly group: string;
  readonly trustDomain: string;
  readonly clock: Clock;
};

/** Whether a PEM has all these roots, and maybe others. */
export function holdsAll(pem: string, rootsPem: string): boolean {
  const roots = rootsPem.match(/-----BEGIN [^-]*-----[^-]*/g) ?? [];
  return roots.every(root => pem.includes(root));
}

/** Whether an identity is of this group, from a known root, and not due yet. */
export function isGoodIdentity(
  { certificate, key }: Pick<TlsMaterial, 'certificate' | 'key'>,
  rootsPem: string,
  { group, trustDomain, clock }: IdentityOf,
): boolean {
  if (errorsOf(checkKeyPair(certificate, key, clock.now())) !== undefined) return false;
  const leaf = new X509Certificate(certificate);
  const roots = parseCertificates(rootsPem, { bytes: 1024 * 1024, count: 16 });
  const known =
    'certificates' in roots && roots.certificates.some(root => leaf.verify(root.publicKey));
  return (
    known &&
    groupOfPeer(leaf.subjectAltName, trustDomain) === group &&
    !isDue({ certificate }, clock.now())
  );
}
