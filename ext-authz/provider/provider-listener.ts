import type { ProviderError } from './provider-error.ts';

/**
 * The parts of a provider that may work or not: its discovery document, the endpoints in it, its
 * keys, whether it accepts the Filter's own client, whether its token endpoint and its userinfo
 * endpoint serve anybody, whether its ID tokens are there and good, but for what a browser can
 * bring about, and whether new access tokens are good.
 */
export type ProviderAspect =
  | 'discovery'
  | 'endpoints'
  | 'keys'
  | 'client'
  | 'tokens'
  | 'idTokens'
  | 'accessTokens'
  | 'userinfo';

/** Hears each time when one of them was tried. Undefined means that it worked. */
export type ProviderListener = (aspect: ProviderAspect, error: ProviderError | undefined) => void;
