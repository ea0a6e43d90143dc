import { CachedDocument, type DocumentOptions } from './cached-document.ts';
import type { HttpClient } from './http-client.ts';
import { type KeySet, parseKeySet } from './key-set.ts';
import type { ProviderError } from './provider-error.ts';
import type { ProviderAspect, ProviderListener } from './provider-listener.ts';
import {
  discoverySource,
  type Endpoint,
  endpointOf,
  type ProviderMetadata,
} from './provider-metadata.ts';

/** What a provider publishes: its discovery document and its keys. */
export type ProviderDocuments = {
  readonly metadata: (signal: AbortSignal) => Promise<ProviderMetadata>;
  /** Returns the keys' document, whose `get` returns the keys. */
  readonly keys: (signal: AbortSignal) => Promise<CachedDocument<KeySet>>;
  readonly knownKeySet: () => KeySet | undefined;
  /**
   * Asks for both where they are unknown, as `probe` does. The discovery document must have these
   * endpoints. Rejects with a ProviderError.
   */
  readonly look: (endpoints: readonly Endpoint[], signal: AbortSignal) => Promise<void>;
  /**
   * Asks for the discovery document again, as often as `ReloadBudget` allows, because what it says
   * of this aspect may be out of date. No request waits for it.
   */
  readonly doubt: (aspect: ProviderAspect) => void;
};

/**
 * Keeps both as RFC 9111 allows, the discovery document through outages too. A discovery document
 * that names another `jwks_uri` begins with new keys.
 */
export function openDocuments(
  client: HttpClient,
  authorizationURL: string,
  options: Omit<DocumentOptions, 'heard'>,
  heard: ProviderListener = () => {},
): ProviderDocuments {
  const hearing = (aspect: 'discovery' | 'keys') => ({
    ...options,
    heard: (error: ProviderError | undefined) => heard(aspect, error),
  });
  const discovery = new CachedDocument(
    client,
    discoverySource(authorizationURL),
    hearing('discovery'),
  );
  let keys: { readonly url: string; readonly document: CachedDocument<KeySet> } | undefined;
  const keysAt = (url: string) => {
    if (keys?.url !== url) keys = { url, document: openKeys(client, url, hearing('keys')) };
    return keys.document;
  };
  return {
    metadata: signal => discovery.get(signal),
    keys: async signal => keysAt(endpointOf(await discovery.get(signal), 'jwks_uri')),
    knownKeySet: () => keys?.document.known(),
    doubt: aspect => void discovery.reload(aspect, NEVER).catch(() => {}),
    look: async (endpoints, signal) => {
      const metadata = await discovery.probe(signal);
      for (const endpoint of endpoints) endpointOf(metadata, endpoint);
      if (metadata.jwks_uri !== undefined) await keysAt(metadata.jwks_uri).probe(signal);
    },
  };
}

const NEVER = new AbortController().signal;

/** Opens the key set at a URL, for a JWT Filter's `jwksURI` too. */
export function openKeys(
  client: HttpClient,
  url: string,
  options: DocumentOptions,
): CachedDocument<KeySet> {
  return new CachedDocument(
    client,
    { what: 'the key set', url, parse: json => parseKeySet(json, url) },
    options,
  );
}
