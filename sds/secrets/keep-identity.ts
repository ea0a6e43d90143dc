import type { Authority } from '#certificates/authority/authority.ts';
import type { Clock } from './clock.ts';
import { holdsAll, isGoodIdentity } from './good-identity.ts';
import type { IdentityTarget } from './identity-target.ts';
import { keepTending } from './keep-tending.ts';

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

/**
 * Keeps a certificate of the group at the target, beside the authority's roots, until `close`. The
 * certificate is renewed at half of its life. A certificate that is there already is used when it
 * is good. A root that was removed goes with the next renewal. Resolves after the first attempt,
 * even a failed one.
 */
export async function keepIdentity(options: KeepIdentityOptions): Promise<{ close(): void }> {
  const { target, onTrouble } = options;
  return await keepTending({
    ...options,
    tendOnce: () => tendOnce(options),
    onTrouble: reason => onTrouble(target.place, reason),
  });
}

/** @returns false when another process was faster */
async function tendOnce(options: KeepIdentityOptions): Promise<boolean> {
  const { group, target, authority, onWritten } = options;
  const kept = await target.read();
  const ca = authority.roots();
  const good = kept !== undefined && isGoodIdentity(kept.material, ca, options);
  // Another replica may know of a new root earlier.
  if (good && holdsAll(kept.material.ca, ca)) return true;
  const { certificate, key } = good ? kept.material : await authority.identity(group);
  if (!(await target.write({ certificate, key, ca }, kept?.mark))) return false;
  onWritten(target.place);
  return true;
}
