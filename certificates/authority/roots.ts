import { X509Certificate } from 'node:crypto';
import type { KeyPair } from './key-pair.ts';
import { SKEW_MS } from './skew.ts';

/** One root of the authority. Times are milliseconds since the epoch. */
export type Root = {
  readonly certificate: string;
  /** PKCS #8. Undefined once another root issues, because the key is then of no more use. */
  readonly key: string | undefined;
  /**
   * When it begins to issue. Before, it is only published, so that every peer trusts it when its
   * first certificate comes.
   */
  readonly issuesFrom: number;
  /** The longest lifetime, in ms, of the certificates that it issues. */
  readonly leafMs: number;
};

/** From the oldest to the newest. There is one, or two while one takes over from the other. */
export type Roots = readonly Root[];

export type Lifetimes = {
  readonly leafMs: number;
  readonly rootMs: number;
};

/** The state of the roots after maintenance. `renew` asks for a new root. */
export type Tended = { readonly roots: Roots; readonly renew: boolean };

/**
 * A new root is known for this long before it issues. Files, mounted Secrets and proxies may need
 * as much time to receive it.
 */
const MOST_NOTICE_MS = 10 * 60_000;

/** Certificates count a little longer than they say, on machines whose clocks are behind. */
const MOST_GRACE_MS = 5 * 60_000;

/** Adds a root. It begins to issue at once when no other can issue now, else after the notice. */
export function addRoot(
  roots: Roots,
  { certificate, key }: KeyPair,
  now: number,
  { leafMs }: Lifetimes,
): Roots {
  const isFirst = ableAt(roots, now).length === 0;
  const issuesFrom = isFirst ? now : now + Math.min(leafMs / 4, MOST_NOTICE_MS);
  return [...roots, { certificate, key, issuesFrom, leafMs }];
}

/**
 * Returns the roots as they are to be at `now`. A root whose successor issues loses its key. It is
 * removed when the last certificate that it issued has expired. A new root is due at half of the
 * newest one's life. After a clock was set back a root that has not begun counts as none.
 */
export function tendRoots(roots: Roots, now: number, lifetimes: Lifetimes): Tended {
  const alive = roots.filter(root => lifeOf(root).end > now);
  const kept = alive.flatMap((root, at) => {
    const next = alive[at + 1];
    const grown = {
      ...root,
      leafMs: Math.max(root.leafMs, root.key === undefined ? 0 : lifetimes.leafMs),
    };
    if (next === undefined || next.issuesFrom > now) return [grown];
    const grace = Math.min(root.leafMs / 4, MOST_GRACE_MS);
    return next.issuesFrom + root.leafMs + grace > now ? [{ ...root, key: undefined }] : [];
  });
  const newest = ableAt(kept, now).at(-1);
  const renew = newest === undefined || now >= halfOf(lifeOf(newest), lifetimes);
  return { roots: same(kept, roots) ? roots : kept, renew };
}

/**
 * Returns the key pair that issues at `now`.
 * @returns undefined when no root can issue
 */
export function issuerOf(roots: Roots, now: number): KeyPair | undefined {
  const able = ableAt(roots, now);
  // With a clock that was set back a little it may be the time of none. Then the oldest issues.
  return able.findLast(({ issuesFrom }) => issuesFrom <= now) ?? able[0];
}

/** What a root issues before its own certificate begins, or after its end, is trusted by nobody. */
function ableAt(roots: Roots, now: number): readonly (Root & KeyPair)[] {
  return roots.flatMap(root => {
    const { key } = root;
    const { end, start } = lifeOf(root);
    return key === undefined || now < start - SKEW_MS || now >= end ? [] : [{ ...root, key }];
  });
}

/** Returns all roots as one PEM text, which peers are checked against. */
export function rootsPem(roots: Roots): string {
  return roots.map(({ certificate }) => certificate).join('');
}

/** A shorter lifetime that was configured since counts too. */
function halfOf({ start, end }: { start: number; end: number }, { rootMs }: Lifetimes): number {
  return start + Math.min(end - start, rootMs) / 2;
}

function lifeOf({ certificate }: Root): { readonly start: number; readonly end: number } {
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  return { start: validFromDate.getTime() + SKEW_MS, end: validToDate.getTime() };
}

function same(one: Roots, other: Roots): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
