import type { OAuthClient } from './filter-client.ts';
import type { HttpClient } from './http-client.ts';
import type { ProviderDocuments } from './provider-documents.ts';
import type { ProviderListener } from './provider-listener.ts';
import type { ProviderSettings } from './settings.ts';

/** What the calls of one provider share. */
export type Adapter = {
  readonly settings: ProviderSettings;
  readonly http: HttpClient;
  readonly documents: ProviderDocuments;
  readonly own: OAuthClient | undefined;
  /** ms since the epoch */
  readonly now: () => number;
  readonly heard: ProviderListener | undefined;
};

/**
 * Returns the Filter's own client. Throws a TypeError when it has none, which is a mistake of the
 * caller.
 */
export function required(own: OAuthClient | undefined): OAuthClient {
  if (own === undefined) throw new TypeError('the Filter has no clientID and secret of its own');
  return own;
}
