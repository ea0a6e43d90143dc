import { X509Certificate } from 'node:crypto';
import type { Authority } from '#certificates/authority/authority.ts';
import { isDue } from '#certificates/authority/keep-fresh.ts';
import { checkKeyPair } from '#certificates/check-pair.ts';
import { errorsOf } from '#certificates/finding.ts';
import { groupOfPeer } from '#certificates/peer.ts';
import { parseCertificates } from '#certificates/pem.ts';
import type { TlsMaterial } from '#certificates/tls-material.ts';
import type { Clock } from './clock.ts';
import type { IdentityTarget } from './identity-target.ts';

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

const PAUSE_MS = { least: 20, most: 30_000 };
/** Several replicas keep the same Secret. */
const ATTEMPTS = 5;

/**
 * Keeps a certificate of the group at the target, beside the authority's roots, until `close`. The
 * certificate is renewed at half of its life. A certificate that is there already is used when it
 * is good. A root that was removed goes with the next renewal. Resolves after the first attempt,
 * even a failed one.
 */
export async function keepIdentity(options: KeepIdentityOptions): Promise<{ close(): void }> {
  const { target, authority, clock, leafMs, onTrouble } = options;
  let failing = false;
  let ended = false;
  let cancelTimer = () => {};
  let turns = Promise.resolve();
  const attempt = async () => {
    if (ended) return;
    try {
      await tend(options);
      failing = false;
    } catch (error) {
      if (!failing) onTrouble(target.place, (error as Error).message);
      failing = true;
    }
  };
  const turn = () => {
    cancelTimer();
    turns = turns.then(attempt).then(() => {
      cancelTimer();
      const pause = Math.min(Math.max(leafMs / 20, PAUSE_MS.least), PAUSE_MS.most);
      if (!ended) cancelTimer = clock.after(pause, turn);
    });
  };
  const endRoots = authority.onRoots(turn);
  turn();
  await turns;
  return {
    close() {
      ended = true;
      endRoots();
      cancelTimer();
    },
  };
}

async function tend(options: KeepIdentityOptions): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (await tendOnce(options)) return;
  }
  throw new Error('other processes keep changing it');
}

/** @returns false when another process was faster */
async function tendOnce(options: KeepIdentityOptions): Promise<boolean> {
  const { group, target, authority, onWritten } = options;
  const kept = await target.read();
  const ca = authority.roots();
  const good = kept !== undefined && isGood(kept.material, ca, options);
  // Another replica may know of a new root earlier.
  if (good && holdsAll(kept.material.ca, ca)) return true;
  const { certificate, key } = good ? kept.material : await authority.identity(group);
  if (!(await target.write({ certificate, key, ca }, kept?.mark))) return false;
  onWritten(target.place);
  return true;
}

function holdsAll(pem: string, rootsPem: string): boolean {
  const roots = rootsPem.match(/-----BEGIN [^-]*-----[^-]*/g) ?? [];
  return roots.every(root => pem.includes(root));
}

/** Whether it is of this group, from a known root, and not due yet. */
function isGood(
  { certificate, key }: TlsMaterial,
  rootsPem: string,
  { group, trustDomain, clock }: KeepIdentityOptions,
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
