import type { AuthorityStore } from './authority-store.ts';
import type { KeyPair } from './key-pair.ts';
import { issueIdentity, issueServer } from './leaf.ts';
import { issueRoot } from './root.ts';
import { addRoot, issuerOf, type Lifetimes, type Roots, rootsPem, tendRoots } from './roots.ts';
import { formatRoots, parseRoots } from './roots-text.ts';

export type AuthorityOptions = Lifetimes & {
  readonly store: AuthorityStore;
  readonly trustDomain: string;
  /** Called once for each outage of the store, with the reason. What was read last stays in use. */
  onTrouble(message: string): void;
  /** Milliseconds since the epoch. */
  now(): number;
  after(ms: number, run: () => void): () => void;
};

/**
 * The built-in certificate authority. The gateway's parts prove their identity to each other by it,
 * without an outside authority.
 */
export type Authority = {
  /** Returns all roots that certificates in use come from, as PEM. */
  roots(): string;
  /** Calls back after each change of the roots. The result ends that. */
  onRoots(listener: () => void): () => void;
  /** Issues a new certificate for a node group's proxy or for one of the gateway's services. */
  identity(group: string): Promise<KeyPair>;
  /** Issues a new server certificate for host names and literal addresses. */
  server(hosts: readonly string[]): Promise<KeyPair>;
  close(): void;
};

/** Longest pause between two reads of the store. Another process may have renewed the root. */
const MOST_PAUSE_MS = 30_000;
const LEAST_PAUSE_MS = 20;
/** Several processes that begin at the same time settle on one root in a few attempts. */
const ATTEMPTS = 10;

/**
 * Reads the roots, or makes the first, and renews them from then on. They outlive their store, for
 * as long as the process runs. A damaged store is an error. A new root beside it would break trust
 * between all parts.
 * @throws an Error that names the place when the roots cannot be read
 */
export async function openAuthority(options: AuthorityOptions): Promise<Authority> {
  const { store, trustDomain, leafMs, now, after, onTrouble } = options;
  let roots = await tend(options, []);
  let failing = false;
  let cancelTimer = () => {};
  let ended = false;
  const listeners = new Set<() => void>();
  const turn = async () => {
    try {
      const next = await tend(options, roots);
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

/**
 * Does all that is due in the store, and returns the roots as they are then. A store that has lost
 * them gets those that are `known`, since other ones would end the trust between all parts.
 */
async function tend(options: AuthorityOptions, known: Roots): Promise<Roots> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const tended = await tendOnce(options, known);
    if (tended !== undefined) return tended;
  }
  throw new Error(`${options.store.place}: other processes keep changing it`);
}

/** @returns undefined when another process was faster */
async function tendOnce(options: AuthorityOptions, known: Roots): Promise<Roots | undefined> {
  const { store, now, rootMs } = options;
  const stored = await store.read();
  const parsed = stored === undefined ? { roots: known } : parseRoots(stored.text);
  if ('error' in parsed) throw new Error(`${store.place} cannot be used: ${parsed.error}`);
  const { roots, renew } = tendRoots(parsed.roots, now(), options);
  const next = renew
    ? addRoot(roots, await issueRoot({ now: now(), lifetimeMs: rootMs }), now(), options)
    : roots;
  if (stored !== undefined && next === parsed.roots) return next;
  return (await store.write(formatRoots(next), stored?.mark)) ? next : undefined;
}
