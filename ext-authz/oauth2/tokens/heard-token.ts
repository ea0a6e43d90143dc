import type { OAuth2Settings } from '#ext-authz/policy/filter-settings.ts';
import { ProviderError } from '#ext-authz/provider/provider-error.ts';
import type { ProviderListener } from '#ext-authz/provider/provider-listener.ts';

/** Hears how new access tokens are judged. */
export type TokenHearer = {
  readonly heard?: ProviderListener | undefined;
  readonly settings: Pick<OAuth2Settings, 'authorizationURL'>;
};

/**
 * Tells the operator how a new access token was judged, which depends on the provider and the
 * Filter rather than on who has it. `fault` says why it is not valid. Undefined means that it is.
 */
export function hearToken({ heard, settings }: TokenHearer, fault: string | undefined): void {
  if (fault === undefined) return void heard?.('accessTokens', undefined);
  const text = `a new access token of ${settings.authorizationURL} ${fault}`;
  heard?.('accessTokens', new ProviderError('invalid_answer', text));
}
