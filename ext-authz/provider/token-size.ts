import { ProviderError } from './provider-error.ts';
import type { ProviderMetadata } from './provider-metadata.ts';
import type { RawTokens } from './token-answer.ts';

/**
 * The longest token of a provider (docs/reference/limits.md). Tokens with very many groups have up
 * to 100 kB. The store keeps whatever is not longer.
 */
const LONGEST_TOKEN = 131_072;

export function isStorable(token: string): boolean {
  return token.length <= LONGEST_TOKEN;
}

/** Throws a ProviderError `too_large` when a member of a token answer is too long to be stored. */
export function checkSizes(
  { accessToken, idToken = '', refreshToken = '', scope = [] }: RawTokens,
  { issuer }: Pick<ProviderMetadata, 'issuer'>,
): void {
  const members = {
    access_token: accessToken,
    id_token: idToken,
    refresh_token: refreshToken,
    scope: scope.join(' '),
  };
  const [long] = Object.entries(members).find(([, text]) => !isStorable(text)) ?? [];
  if (long === undefined) return;
  const text = `the \`${long}\` of ${issuer} is longer than ${LONGEST_TOKEN} characters. Let the provider put less into it, such as fewer groups`;
  throw new ProviderError('too_large', text);
}
