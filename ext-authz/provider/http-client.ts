import type { Agent, Response, fetch as undiciFetch } from 'undici';
import { readBounded } from '#process/bounded-text.ts';
import { connectionFault } from './connection-fault.ts';
import { ProviderError, type ProviderErrorFacts } from './provider-error.ts';
import type { TlsSettings } from './tls-connector.ts';

export type ProviderRequest = {
  /** Names what is asked in errors, such as `the token endpoint`. */
  readonly what: string;
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Aborts when the time is up. */
  readonly signal: AbortSignal;
};

export type ProviderAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
};

/** Speaks HTTP with one provider. */
export type HttpClient = {
  /**
   * Sends one request and returns its whole answer, at most 1 MiB of it. A redirect is an answer,
   * and is not followed. Rejects with a ProviderError: `unreachable`, `timeout`, `too_large`, or
   * `invalid_answer` (not UTF-8).
   */
  readonly send: (request: ProviderRequest) => Promise<ProviderAnswer>;
  /** Drops all connections. Requests that wait fail as `unreachable`. */
  readonly close: () => Promise<void>;
};

/** The longest answer of a provider (docs/reference/limits.md). */
const MAX_ANSWER_BYTES = 1_048_576;
/** Further requests wait for a connection, so that a slow provider is not overloaded. */
const MAX_CONNECTIONS = 64;
const KEEP_ALIVE_MS = 30_000;
/** The caller's signal ends a request long before. These end what no caller waits for. */
const LAST_RESORT_MS = 30_000;

/**
 * Opens a client with connections of its own, kept alive and bounded. Proxies named in the
 * environment are not used.
 */
export function openHttpClient(settings: TlsSettings): HttpClient {
  const opened = openAgent(settings);
  // A request says what is wrong, if anything is.
  opened.catch(() => {});
  return {
    send: request => send(opened, settings, request),
    close: async () => (await opened).dispatcher.destroy(),
  };
}

type Opened = { readonly dispatcher: Agent; readonly fetch: typeof undiciFetch };

/**
 * Loads undici, which has 109 modules, once there is a provider. Its settings come before the first
 * request that needs it.
 */
async function openAgent(settings: TlsSettings): Promise<Opened> {
  const [{ Agent, fetch }, { tlsConnector }] = await Promise.all([
    import('undici'),
    import('./tls-connector.ts'),
  ]);
  const dispatcher = new Agent({
    connect: tlsConnector(settings),
    connections: MAX_CONNECTIONS,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: LAST_RESORT_MS,
    bodyTimeout: LAST_RESORT_MS,
  });
  return { dispatcher, fetch };
}

async function send(
  opened: Promise<Opened>,
  settings: TlsSettings,
  request: ProviderRequest,
): Promise<ProviderAnswer> {
  const { body, headers, method, signal, url } = request;
  try {
    const { dispatcher, fetch } = await opened;
    const response = await fetch(url, {
      dispatcher,
      method,
      headers,
      redirect: 'manual',
      signal,
      ...(body !== undefined && { body }),
    });
    return await answerOf(response, request);
  } catch (error) {
    throw error instanceof ProviderError ? error : failureOf(error, settings, request);
  }
}

async function answerOf(response: Response, request: ProviderRequest): Promise<ProviderAnswer> {
  const text = await readBounded(response.body, MAX_ANSWER_BYTES);
  if (text === 'too_large') {
    throw new ProviderError('too_large', `${placeOf(request)}: the answer is larger than 1 MiB`, {
      status: response.status,
    });
  }
  return { status: response.status, headers: new Headers([...response.headers]), text };
}

function failureOf(
  error: unknown,
  { trustedCa }: TlsSettings,
  request: ProviderRequest,
): ProviderError {
  const place = placeOf(request);
  if (request.signal.aborted) return new ProviderError('timeout', `${place}: no answer in time`);
  if (isEncodingError(error))
    return new ProviderError('invalid_answer', `${place}: the answer is not UTF-8`);
  const { lasting, text } = connectionFault(error, trustedCa);
  return new ProviderError('unreachable', `${place}: no answer${text}`, { lasting });
}

function isEncodingError(error: unknown): boolean {
  return (
    error instanceof TypeError &&
    'code' in error &&
    error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
  );
}

/**
 * Returns the facts of an answer that is not a success. `Retry-After` counts in seconds (RFC 9110
 * section 10.2.3), because clocks may differ.
 */
export function factsOf({
  headers,
  status,
}: Pick<ProviderAnswer, 'headers' | 'status'>): ProviderErrorFacts {
  const [seconds] = /^\d{1,6}$/.exec(headers.get('retry-after') ?? '') ?? [];
  return { status, ...(seconds !== undefined && { retryAfter: Number(seconds) * 1_000 }) };
}

/** Returns what was asked and where, without query. */
export function placeOf({ what, url }: Pick<ProviderRequest, 'what' | 'url'>): string {
  const parsed = URL.parse(url);
  return parsed === null ? what : `${what} ${parsed.origin}${parsed.pathname}`;
}
