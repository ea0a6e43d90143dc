import { readBounded } from '#process/bounded-text.ts';
import { AuthorityError } from './authority-error.ts';
import type { OrderFailure } from './pause-after.ts';

/** A request as the library makes it. */
export type AuthorityRequest = {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly data?: unknown;
};

export type AuthorityAnswer = {
  readonly status: number;
  readonly statusText: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly data: string;
};

const TIMEOUT_MS = 30_000;
const MOST_BYTES = 512 * 1024;
const BAD_NONCE = 'urn:ietf:params:acme:error:badNonce';
const RATE_LIMITED = 'urn:ietf:params:acme:error:rateLimited';
const ALREADY_REVOKED = 'urn:ietf:params:acme:error:alreadyRevoked';

/**
 * Asks an ACME authority. The time and the size of its answer are bounded, and no redirect is
 * followed. An answer that a nonce was used up is an answer (RFC 8555, section 6.5). One that a
 * certificate is revoked already is a success (section 7.6).
 * @throws AuthorityError with its words for other answers from 400 on, and when there is none
 */
export async function askAuthority(
  request: AuthorityRequest,
  now: () => number,
): Promise<AuthorityAnswer> {
  const { method = 'GET', url = '' } = request;
  const { host, protocol } = URL.parse(url) ?? { host: url.slice(0, 80), protocol: '' };
  if (protocol !== 'https:') throw away(`${host} is not asked, because its URL is not of https`);
  const answer = await exchange(request, url).catch((error: Error) => {
    throw away(`${host} cannot be asked: ${reasonOf(error)}`);
  });
  const { data, headers, status } = answer;
  if (status < 300) return answer;
  const problem = problemOf(data);
  if (status === 400 && problem.type === BAD_NONCE) return answer;
  if (status === 400 && problem.type === ALREADY_REVOKED) return { ...answer, status: 200 };
  const words = problem.detail ?? `${host} answers ${method} with ${status}`;
  const retryAfterMs = retryAfter(headers['retry-after'], now());
  throw new AuthorityError(words, { kind: kindOf(status, problem), retryAfterMs });
}

/** RFC 8555, section 6.6: a limit has a status of its own, or a type alone. */
function kindOf(status: number, { type }: ProblemDocument): OrderFailure['kind'] {
  if (status >= 500 || status < 400) return 'away';
  return status === 429 || type === RATE_LIMITED ? 'limited' : 'refused';
}

function away(words: string): AuthorityError {
  return new AuthorityError(words, { kind: 'away' });
}

async function exchange(
  { data, method = 'GET' }: AuthorityRequest,
  url: string,
): Promise<AuthorityAnswer> {
  const response = await fetch(url, {
    method: method.toUpperCase(),
    headers: {
      'content-type': 'application/jose+json',
      'user-agent': 'tollwright',
    },
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(typeof data === 'string' && { body: data }),
  });
  const { headers, status, statusText } = response;
  const text = await readBounded(response.body, MOST_BYTES);
  if (text === 'too_large') throw new Error(`its answer has more than ${MOST_BYTES} bytes`);
  return { status, statusText, headers: Object.fromEntries(headers), data: text };
}

/** The cause of a failed fetch has the system's words. */
function reasonOf({ cause, message }: Error): string {
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}

type ProblemDocument = { readonly type?: unknown; readonly detail?: string };

/** Reads a problem document (RFC 7807). */
function problemOf(text: string): ProblemDocument {
  try {
    const { detail, type } = Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
    return { type, ...(typeof detail === 'string' && detail !== '' && { detail }) };
  } catch {
    return {};
  }
}

/** RFC 9110, section 10.2.3: seconds, or a date. */
function retryAfter(text: string | undefined, now: number): number {
  if (text === undefined) return 0;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isFinite(ms) && ms > 0 ? ms : 0;
}
