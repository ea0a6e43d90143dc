import type { ProviderError } from './provider-error.ts';

/**
 * The parts of a provider that may work or not: its discovery document, the endpoints in it, its
 * keys, and whether it accepts the Filter's own client.
 */
export type ProviderAspect = 'discovery' | 'endpoints' | 'keys' | 'client';

/** Hears each time when one of them was tried. Undefined means that it worked. */
export type ProviderListener = (aspect: ProviderAspect, error: ProviderError | undefined) => void;
