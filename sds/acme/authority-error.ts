import { cutText } from '#grpc/cut-text.ts';
import type { OrderFailure } from './pause-after.ts';

const MOST_CHARACTERS = 300;

/** What an authority answered in place of what it was asked for, in its own words. */
export class AuthorityError extends Error implements OrderFailure {
  readonly kind: OrderFailure['kind'];
  readonly retryAfterMs: number;

  constructor(words: string, { kind, retryAfterMs = 0 }: OrderFailure) {
    super(plainWords(words));
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Returns one line without control characters, which may be shown in a log and on a terminal. */
export function plainWords(words: string): string {
  const line = words.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return cutText(line, MOST_CHARACTERS);
}

/** Returns the failure that an error stands for. The library's own errors tell no kind. */
export function failureOf(error: unknown): AuthorityError {
  if (error instanceof AuthorityError) return error;
  const words = error instanceof Error ? error.message : String(error);
  return new AuthorityError(words || 'it gives no reason', { kind: 'away' });
}
