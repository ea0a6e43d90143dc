import { browserCalls } from './browser-calls.ts';
import { type AssertionSources, filterClient } from './filter-client.ts';
import { openHttpClient } from './http-client.ts';
import type { Provider } from './provider.ts';
import { openDocuments } from './provider-documents.ts';
import { mayHaveMoved } from './provider-health.ts';
import type { ProviderListener } from './provider-listener.ts';
import type { ProviderSettings } from './settings.ts';
import { verifySignature } from './signed-jwt.ts';
import { tokenCalls } from './token-calls.ts';
import { tracedHttpClient } from './traced-http-client.ts';
import { requestUserinfo } from './userinfo.ts';

/**
 * Opens a Filter's provider over HTTP, by openid-client and jose. It asks for nothing before the
 * first call. `heard` hears what of it works. Throws a TypeError when the secret does not fit
 * signingMethod. `signingFault` of resources tells the operator before.
 */
export function openProvider(
  settings: ProviderSettings,
  sources: AssertionSources,
  heard?: ProviderListener,
): Provider {
  const { now, traces } = sources;
  const http = tracedHttpClient(openHttpClient(settings), traces);
  const { authorizationURL, maxStale } = settings;
  const listener: ProviderListener = (aspect, error) => {
    heard?.(aspect, error);
    if (error !== undefined && aspect !== 'discovery' && mayHaveMoved(error))
      documents.doubt(aspect);
  };
  const documents = openDocuments(http, authorizationURL, { maxStale, now }, listener);
  const own = filterClient(settings, sources);
  const adapter = { settings, http, documents, own, now, heard: listener };
  return {
    metadata: documents.metadata,
    keySet: async signal => (await documents.keys(signal)).get(signal),
    knownKeySet: documents.knownKeySet,
    verify: async (jwt, algorithms, signal) =>
      verifySignature(jwt, algorithms, await documents.keys(signal), signal),
    look: documents.look,
    ...browserCalls(adapter),
    ...tokenCalls(adapter),
    userinfo: async ({ accessToken, subject }, signal) =>
      requestUserinfo({
        ...{ client: http, accessToken, subject, signal },
        metadata: await documents.metadata(signal),
        keys: () => documents.keys(signal),
        clientID: settings.clientID,
        now: now(),
        heard: listener,
      }),
    close: http.close,
  };
}
