import { type GroupFacts, rootFacts, type SecretsState } from './known-certificates.ts';
import type { CertificateFacts } from './secret-content.ts';
import type { SecretSlot } from './secret-slot.ts';

/**
 * Returns what `/status` tells of secrets. It shows certificates by serial and end, and what is
 * wrong with which. It shows nothing of keys.
 */
export function secretsStatus({ identities, roots, served, written }: SecretsState): object {
  const slots = [...served].map(slot => [slot.served.name, slotStatus(slot)]);
  return {
    roots: rootFacts(roots).map(factsStatus),
    identities: groupsStatus(identities),
    written: groupsStatus(written),
    served: Object.fromEntries(slots),
  };
}

function groupsStatus(groups: GroupFacts): object {
  return Object.fromEntries(groups.map(([group, facts]) => [group, factsStatus(facts)]));
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
