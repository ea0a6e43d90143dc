import type { LoginFilter } from '#ext-authz/oauth2/session/login-filter.ts';
import { isOpenState } from '#ext-authz/oauth2/session/state.ts';
import { newSeed, openText, sealText, type TextScope } from '#ext-authz/store/sealed-text.ts';
import type { Attempt, HandoffTarget, Wish } from './attempt.ts';

/** What another origin asks of the one that holds the login. */
export type Handoff = Wish & HandoffTarget;

/** Keeps the address of a hand-off short. A longer URL is known to the other origin alone. */
const LONGEST_URL = 512;

/** Returns what the address of a hand-off says of an attempt at `origin`, sealed. */
export function sealHandoff(filter: LoginFilter, origin: string, attempt: Attempt): string {
  const { codeVerifier: _, nonce: __, seed: ___, state: id, returnUrl: url, ...wish } = attempt;
  const returnUrl = url.length > LONGEST_URL ? `${origin}/` : url;
  const { randomBytes } = filter.sources;
  const value: Handoff = { ...wish, id, origin, returnUrl };
  return sealText(
    filter.storeKey,
    scopeOf(filter),
    { seed: newSeed(randomBytes), value },
    randomBytes,
  );
}

/**
 * Opens what `sealHandoff` made.
 * @returns undefined when it is not a hand-off of this Filter, or took too long
 */
export function openHandoff(filter: LoginFilter, text: string): Handoff | undefined {
  const opened = openText(filter.storeKey, scopeOf(filter), text);
  const handoff = opened?.value as Handoff | undefined;
  return handoff !== undefined && isOpenState(filter, handoff.id) ? handoff : undefined;
}

function scopeOf({ sealRealm: realm }: LoginFilter): TextScope {
  return { kind: 'handoff', realm, boundTo: [] };
}
