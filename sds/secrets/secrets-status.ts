import { X509Certificate } from 'node:crypto';
import type { CertificateFacts } from './secret-content.ts';
import type { SecretSlot } from './secret-slot.ts';

/**
 * Returns what `/status` tells of secrets. It shows certificates by serial and end, and what is
 * wrong with which. It shows nothing of keys.
 */
export function secretsStatus(
  slots: Iterable<SecretSlot>,
  identities: readonly (readonly [group: string, facts: CertificateFacts])[],
  rootsPem: string,
): object {
  const served = [...slots].map(slot => [slot.served.name, slotStatus(slot)]);
  return {
    roots: rootFacts(rootsPem).map(factsStatus),
    identities: Object.fromEntries(identities.map(([group, facts]) => [group, factsStatus(facts)])),
    served: Object.fromEntries(served),
  };
}

function slotStatus({ served, facts, problem }: SecretSlot): object {
  const { groups, content } = served;
  return {
    kind: content.kind,
    groups,
    ...(facts && factsStatus(facts)),
    ...(problem && { problem }),
  };
}

function factsStatus({ serial, notAfter }: CertificateFacts): object {
  return { serial, notAfter: new Date(notAfter).toISOString() };
}

/** Returns the facts of each of the authority's roots. */
export function rootFacts(pem: string): readonly CertificateFacts[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.map(block => {
    const { serialNumber, validToDate } = new X509Certificate(block);
    return { serial: serialNumber.toLowerCase(), notAfter: validToDate.getTime() };
  });
}
