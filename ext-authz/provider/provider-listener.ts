import type { ProviderError } from './provider-error.ts';

/**
 * The parts of a provider that may work or not: its discovery document, the endpoints in it, its
 * keys, whether it accepts the Filter's own client, and whether its token endpoint answers.
 */
export type ProviderAspect = 'discovery' | 'endpoints' | 'keys' | 'client' | 'tokens';

/** Hears each time when one of them was tried. Undefined means that it worked. */
export type ProviderListener = (aspect: ProviderAspect, error: ProviderError | undefined) => void;
