import { X509Certificate } from 'node:crypto';
import type { CertificateFacts } from './secret-content.ts';
import type { SecretSlot } from './secret-slot.ts';

/** The certificates of one moment. */
export type SecretsState = {
  readonly served: Iterable<SecretSlot>;
  /** Those that proxies get from here, by node group. */
  readonly identities: GroupFacts;
  /** Those that are written for services and proxies that need one before they can ask. */
  readonly written: GroupFacts;
  /** PEM. */
  readonly roots: string;
};

export type GroupFacts = readonly (readonly [group: string, facts: CertificateFacts])[];

/** A certificate as operators see it. It shows nothing of keys. */
export type KnownCertificate = CertificateFacts & {
  readonly kind: 'identity' | 'written' | 'root' | 'served';
  /** Its group or secret. Empty for a root. */
  readonly name: string;
  /** Why newer content is not used. */
  readonly problem?: string | undefined;
};

/** Returns all certificates, the one that ends first at the beginning. */
export function knownCertificates(state: SecretsState): readonly KnownCertificate[] {
  const { identities, roots, served, written } = state;
  const all: readonly KnownCertificate[] = [
    ...identities.map(([name, facts]) => ({ kind: 'identity' as const, name, ...facts })),
    ...written.map(([name, facts]) => ({ kind: 'written' as const, name, ...facts })),
    ...rootFacts(roots).map(facts => ({ kind: 'root' as const, name: '', ...facts })),
    ...[...served].flatMap(({ facts, problem, served: { name } }) =>
      facts === undefined ? [] : [{ kind: 'served' as const, name, ...facts, problem }],
    ),
  ];
  return all.toSorted((a, b) => a.notAfter - b.notAfter);
}

/** Returns the facts of each of the authority's roots. */
export function rootFacts(pem: string): readonly CertificateFacts[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.map(block => {
    const { serialNumber, validToDate } = new X509Certificate(block);
    return { serial: serialNumber.toLowerCase(), notAfter: validToDate.getTime() };
  });
}
