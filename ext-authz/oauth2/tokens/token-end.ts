import { timeOf } from '#ext-authz/jwt/claims.ts';
import { decodeJwt } from '#ext-authz/jwt/token-data.ts';
import { LONGEST_S } from '#ext-authz/provider/expires-in.ts';
import type { TokenSet } from '#ext-authz/provider/token-answer.ts';

const UNSAID_MS = 3_600_000;

/**
 * Returns when an access token ends that was granted at `from`, both in ms since the epoch. It is
 * by `expires_in` or by its own `exp`, whichever is sooner. Without both it ends in an hour, and it
 * ends in 2^31 - 1 s at the latest. `exp` is not verified, because it only tells when to ask for
 * another token.
 */
export function accessTokenEnd(
  { accessToken, expiresInSeconds }: Pick<TokenSet, 'accessToken' | 'expiresInSeconds'>,
  from: number,
): number {
  const exp = timeOf(decodeJwt(accessToken)?.claims ?? {}, 'exp');
  const said = expiresInSeconds === undefined ? undefined : from + expiresInSeconds * 1_000;
  const latest = from + LONGEST_S * 1_000;
  return Math.min(exp ?? said ?? from + UNSAID_MS, said ?? latest, latest);
}
