import type { Authority } from '#certificates/authority/authority.ts';
import type { KeyPair } from '#certificates/authority/key-pair.ts';
import type { Clock } from './clock.ts';
import { holdsAll, isGoodIdentity } from './good-identity.ts';
import type { IdentityTarget } from './identity-target.ts';
import { keepTending } from './keep-tending.ts';
import { type CertificateFacts, factsOf } from './secret-content.ts';

export type KeepIdentityOptions = {
  readonly group: string;
  readonly target: IdentityTarget;
  readonly authority: Authority;
  readonly trustDomain: string;
  /** Lifetime of certificates, in ms. */
  readonly leafMs: number;
  readonly clock: Clock;
  onWritten(place: string): void;
  /**
   * Called once for each outage. What was written before stays, and the write is tried again soon.
   */
  onTrouble(place: string, reason: string): void;
};

export type KeptCertificate = {
  readonly group: string;
  /**
   * Returns the facts of the certificate that was seen or written last.
   * @returns undefined before the first
   */
  facts(): CertificateFacts | undefined;
  close(): void;
};

/**
 * Keeps a certificate of the group at the target, beside the authority's roots, until `close`. The
 * certificate is renewed at half of its life. A certificate that is there already is used when it
 * is good. A root that was removed goes with the next renewal. Resolves after the first attempt,
 * even a failed one.
 */
export async function keepIdentity(options: KeepIdentityOptions): Promise<KeptCertificate> {
  const { group, target, onTrouble } = options;
  let facts: CertificateFacts | undefined;
  const { close } = await keepTending({
    ...options,
    tendOnce: async () => {
      const kept = await tendOnce(options);
      if (kept !== undefined) facts = factsOf({ kind: 'key pair', ...kept });
      return kept !== undefined;
    },
    onTrouble: reason => onTrouble(target.place, reason),
  });
  return { group, facts: () => facts, close };
}

/**
 * Returns what is at the target then.
 * @returns undefined when another process was faster
 */
async function tendOnce(options: KeepIdentityOptions): Promise<KeyPair | undefined> {
  const { group, target, authority, onWritten } = options;
  const kept = await target.read();
  const ca = authority.roots();
  const good = kept !== undefined && isGoodIdentity(kept.material, ca, options);
  // Another replica may know of a new root earlier.
  if (good && holdsAll(kept.material.ca, ca)) return kept.material;
  const { certificate, key } = good ? kept.material : await authority.identity(group);
  if (!(await target.write({ certificate, key, ca }, kept?.mark))) return undefined;
  onWritten(target.place);
  return { certificate, key };
}
