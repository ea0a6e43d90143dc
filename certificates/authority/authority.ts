import type { AuthorityStore } from './authority-store.ts';
import type { KeyPair } from './key-pair.ts';
import { issueIdentity, issueServer } from './leaf.ts';
import { issueRoot } from './root.ts';
import { addRoot, issuerOf, type Lifetimes, type Roots, rootsPem, tendRoots } from './roots.ts';
import { formatRoots, parseRoots } from './roots-text.ts';

export type AuthorityOptions = Lifetimes & {
  readonly store: AuthorityStore;
  readonly trustDomain: string;
  /**
   * The store cannot be used, with the reason, once for each outage: what was read last goes on.
   */
  onTrouble(message: string): void;
  /** Milliseconds since the epoch. */
  now(): number;
  after(ms: number, run: () => void): () => void;
};

/** The built-in certificate authority: who we are to each other, without anything outside. */
export type Authority = {
  /** All roots that certificates in use come from, PEM. */
  roots(): string;
  /** Calls back after each change of the roots; the result ends that. */
  onRoots(listener: () => void): () => void;
  /** A new certificate of a node group's proxy or of one of our services. */
  identity(group: string): Promise<KeyPair>;
  /** A new server certificate for host names and literal addresses. */
  server(hosts: readonly string[]): Promise<KeyPair>;
  close(): void;
};

/** The store is looked at so often, at least: another process may have renewed the root. */
const MOST_PAUSE_MS = 30_000;
const LEAST_PAUSE_MS = 20;
/** Several processes that begin at the same time settle on one root in a few attempts. */
const ATTEMPTS = 10;

/**
 * Reads the roots, or makes the first, and renews them from then on. Rejects with an Error that
 * names the place where they cannot be read: a new root beside an old one that is merely damaged
 * would have everyone refuse everyone.
 */
export async function openAuthority(options: AuthorityOptions): Promise<Authority> {
  const { store, trustDomain, leafMs, now, after, onTrouble } = options;
  let roots = await tend(options);
  let failing = false;
  let cancelTimer = () => {};
  let ended = false;
  const listeners = new Set<() => void>();
  const turn = async () => {
    try {
      const next = await tend(options);
      failing = false;
      if (ended || rootsPem(next) === rootsPem(roots)) roots = next;
      else {
        roots = next;
        for (const listener of [...listeners]) listener();
      }
    } catch (error) {
      if (!failing) onTrouble((error as Error).message);
      failing = true;
    }
    schedule();
  };
  const schedule = () => {
    if (!ended)
      cancelTimer = after(Math.min(Math.max(leafMs / 40, LEAST_PAUSE_MS), MOST_PAUSE_MS), turn);
  };
  schedule();
  const issuer = () => {
    const found = issuerOf(roots, now());
    if (found === undefined)
      throw new Error(`${store.place}: there is no root to issue certificates with`);
    return found;
  };
  const lifetime = () => ({ now: now(), lifetimeMs: leafMs });
  return {
    roots: () => rootsPem(roots),
    onRoots(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    identity: async group => issueIdentity(issuer(), { trustDomain, group }, lifetime()),
    server: async hosts => issueServer(issuer(), hosts, lifetime()),
    close() {
      ended = true;
      cancelTimer();
      listeners.clear();
    },
  };
}

/** The roots as they are in the store after all that was due was done there. */
async function tend(options: AuthorityOptions): Promise<Roots> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const tended = await tendOnce(options);
    if (tended !== undefined) return tended;
  }
  throw new Error(`${options.store.place}: others change it all the time`);
}

/** Undefined: somebody else was faster. */
async function tendOnce(options: AuthorityOptions): Promise<Roots | undefined> {
  const { store, now, rootMs } = options;
  const stored = await store.read();
  const parsed = stored === undefined ? { roots: [] } : parseRoots(stored.text);
  if ('error' in parsed) throw new Error(`${store.place} cannot be used: ${parsed.error}`);
  const { roots, renew } = tendRoots(parsed.roots, now(), options);
  const next = renew
    ? addRoot(roots, await issueRoot({ now: now(), lifetimeMs: rootMs }), now(), options)
    : roots;
  if (next === parsed.roots) return next;
  return (await store.write(formatRoots(next), stored?.mark)) ? next : undefined;
}
