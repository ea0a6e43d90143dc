import {
  allowInsecureRequests,
  type ClientAuth,
  ClientError,
  Configuration,
  customFetch,
  type ServerMetadata,
} from 'openid-client';
import type { HttpClient, ProviderAnswer } from './http-client.ts';
import { ProviderError } from './provider-error.ts';
import type { ProviderMetadata } from './provider-metadata.ts';
import { secretsOf } from './shown-description.ts';

/** A request that the library makes. */
export type LibraryCall = {
  readonly client: HttpClient;
  readonly metadata: ProviderMetadata;
  /** Undefined where none is sent. */
  readonly clientID: string | undefined;
  readonly authentication: ClientAuth;
  /** Names what is asked in errors, such as `the token endpoint`. */
  readonly what: string;
  /**
   * Judges the answer and returns the JSON that the library reads in its place. `secrets` were
   * sent. May throw a ProviderError.
   */
  readonly read: (answer: ProviderAnswer, url: string, secrets: readonly string[]) => unknown;
  readonly signal: AbortSignal;
};

/**
 * Lets openid-client make one request through the gateway's HTTP client. `run` gets the
 * configuration for that one call. Rejects with a ProviderError.
 */
export async function callLibrary<T>(
  call: LibraryCall,
  run: (config: Configuration) => Promise<T>,
): Promise<T> {
  try {
    return await run(configurationOf(call));
  } catch (error) {
    throw toProviderError(error, call.what);
  }
}

function configurationOf(call: LibraryCall): Configuration {
  const { authentication, clientID, metadata } = call;
  // The library needs a client ID also where none is sent.
  const config = new Configuration(
    serverOf(metadata),
    clientID ?? 'none',
    undefined,
    authentication,
  );
  if (!metadata.issuer.toLowerCase().startsWith('https:')) allowInsecureRequests(config);
  // The gateway's own signal ends the request.
  config.timeout = 0;
  config[customFetch] = async (url, { body, headers, method }) => {
    const { client, read, signal, what } = call;
    const text: { body?: string } =
      body instanceof URLSearchParams ? { body: body.toString() } : {};
    const answer = await client.send({
      what,
      url,
      headers,
      method: method === 'POST' ? 'POST' : 'GET',
      signal,
      ...text,
    });
    return Response.json(await read(answer, url, secretsOf(new Headers(headers), text.body ?? '')));
  };
  return config;
}

/** Returns what the library needs. It gets no ID token, and no signed answer. */
function serverOf(metadata: ProviderMetadata): ServerMetadata {
  const { issuer, token_endpoint, userinfo_endpoint } = metadata;
  return {
    issuer,
    ...(token_endpoint !== undefined && { token_endpoint }),
    ...(userinfo_endpoint !== undefined && { userinfo_endpoint }),
  };
}

/** The library hides errors of ours behind `cause`. Its own texts name members, never values. */
function toProviderError(error: unknown, what: string): unknown {
  if (error instanceof ProviderError) return error;
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof ProviderError) return cause;
  if (!(error instanceof ClientError)) return error;
  const detail =
    cause instanceof Error && cause.name === 'OperationProcessingError'
      ? cause.message
      : error.message;
  return new ProviderError('invalid_answer', `${what}: ${detail}`);
}
