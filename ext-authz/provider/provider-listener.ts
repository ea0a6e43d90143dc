import type { ProviderError } from './provider-error.ts';

/**
 * What of a provider may work or not: its discovery document, the endpoints that are in it, its
 * keys, and whether it takes the Filter's own client.
 */
export type ProviderAspect = 'discovery' | 'endpoints' | 'keys' | 'client';

/** Hears each time when one of them was tried; undefined: it worked. */
export type ProviderListener = (aspect: ProviderAspect, error: ProviderError | undefined) => void;
