import type { Authority } from '#certificates/authority/authority.ts';
import { isDue } from '#certificates/authority/keep-fresh.ts';
import type { Clock } from './clock.ts';
import type { EdgeAccount } from './edge-account.ts';
import { holdsAll, isGoodIdentity } from './good-identity.ts';
import { keepTending, type Tending } from './keep-tending.ts';
import type { KeptSecret, Owner } from './kept-secret.ts';

export type KeepEdgeIdentitiesOptions = {
  /** The Secret of the namespace. It has `ca.crt`, and `<group>.crt` and `<group>.key` of each. */
  readonly secret: KeptSecret;
  /** Returns the accounts of the namespace, as they are now. */
  accounts(): readonly EdgeAccount[];
  readonly authority: Authority;
  readonly trustDomain: string;
  /** Lifetime of certificates, in ms. */
  readonly leafMs: number;
  readonly clock: Clock;
  onWritten(group: string, place: string): void;
  /** Called once for each outage. What was written before stays. */
  onTrouble(place: string, reason: string): void;
};

/** A Secret has 1 MiB at most. */
const MOST_GROUPS = 300;

/**
 * Keeps the identities of all Gateways of a namespace in one Secret until `close`. Resolves after
 * the first attempt, even a failed one.
 */
export function keepEdgeIdentities(options: KeepEdgeIdentitiesOptions): Promise<Tending> {
  const { secret, onTrouble } = options;
  return keepTending({
    ...options,
    tendOnce: () => tendOnce(options),
    onTrouble: reason => onTrouble(secret.place, reason),
  });
}

type Texts = Readonly<Record<string, string>>;

async function tendOnce(options: KeepEdgeIdentitiesOptions): Promise<boolean> {
  const { secret, authority, clock, onWritten } = options;
  const accounts = options.accounts();
  // The Secret is removed with the last of its owners.
  if (accounts.length === 0) return true;
  const groups = [...new Set(accounts.map(({ group }) => group))].sort();
  if (groups.length > MOST_GROUPS)
    throw new Error(`there are ${groups.length} Gateways, and it can hold ${MOST_GROUPS}`);
  const kept = await secret.read();
  const texts = kept?.texts ?? {};
  const ca = authority.roots();
  const due = groups.filter(
    group => !isGoodIdentity(pairOf(texts, group), ca, { ...options, group }),
  );
  const gone = goneKeys(texts, new Set(groups), clock.now());
  const isOwned = sameOwners(kept?.owners ?? [], accounts);
  const holdsRoots = holdsAll(texts['ca.crt'] ?? '', ca);
  if (due.length === 0 && gone.size === 0 && holdsRoots && isOwned) return true;
  const stay = Object.entries(texts).filter(([key]) => !gone.has(key));
  const issued = await Promise.all(due.map(group => issue(authority, group)));
  const next = { ...Object.fromEntries(stay), ...Object.assign({}, ...issued), 'ca.crt': ca };
  if (!(await secret.write(next, kept?.mark))) return false;
  for (const group of due) onWritten(group, secret.place);
  return true;
}

function sameOwners(owners: readonly Owner[], accounts: readonly EdgeAccount[]): boolean {
  const wanted = new Set(accounts.map(({ owner }) => owner.uid));
  return owners.length === wanted.size && owners.every(({ uid }) => wanted.has(uid));
}

async function issue(authority: Authority, group: string): Promise<Texts> {
  const { certificate, key } = await authority.identity(group);
  return { [`${group}.crt`]: certificate, [`${group}.key`]: key };
}

function pairOf(texts: Texts, group: string) {
  return { certificate: texts[`${group}.crt`] ?? '', key: texts[`${group}.key`] ?? '' };
}

/**
 * Returns the keys of groups without an account. They stay until they are due, because another
 * replica may know of a new account earlier.
 */
function goneKeys(texts: Texts, groups: ReadonlySet<string>, now: number): ReadonlySet<string> {
  const certificates = Object.keys(texts).filter(key => key !== 'ca.crt' && key.endsWith('.crt'));
  const gone = certificates
    .map(key => key.slice(0, -'.crt'.length))
    .filter(group => !groups.has(group) && isOver(texts[`${group}.crt`] ?? '', now));
  return new Set(gone.flatMap(group => [`${group}.crt`, `${group}.key`]));
}

function isOver(certificate: string, now: number): boolean {
  try {
    return isDue({ certificate }, now);
  } catch {
    return true;
  }
}
