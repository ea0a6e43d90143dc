import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https';
import { ClusterError } from './cluster-error.ts';
import { type Credentials, type CredentialsSource, loadCredentials } from './credentials.ts';

export type ApiRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** A path as resourcePath makes it. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: object;
  /** Type of the body. Default: `application/json`. */
  readonly contentType?: string;
  /** Type of the answer, which must be JSON. Default: `application/json`. */
  readonly accept?: string;
  /** Time for a complete answer to a call, in ms. Default: that of the cluster. */
  readonly timeoutMs?: number;
};

export type ApiAnswer = {
  readonly status: number;
  readonly body: unknown;
  /** How long a server that is busy asks to wait, in ms (RFC 9110, section 10.2.3). */
  readonly retryAfterMs?: number;
};

/** The API of one Kubernetes cluster. */
export type Cluster = {
  readonly server: string;
  /** The process's own namespace. */
  readonly namespace: string;
  /**
   * Sends a request. Any status is an answer.
   * @throws ClusterError when no answer comes in time, or it is not JSON
   */
  call(request: ApiRequest): Promise<ApiAnswer>;
  /**
   * Sends a request and resolves with the head of the answer, which must come in time. The body
   * comes until it ends or the signal aborts.
   */
  open(request: ApiRequest, signal: AbortSignal): Promise<IncomingMessage>;
  /** Closes idle connections. */
  close(): void;
};

export type ClusterOptions = CredentialsSource & {
  /** Time for a complete answer. Default: 10 s. */
  readonly timeoutMs?: number;
};

const MAX_ANSWER_BYTES = 128 * 1024 * 1024;
const KEEP_ALIVE_MS = 15_000;
const LONGEST_RETRY_MS = 60_000;

/**
 * Connects to the API by a kubeconfig or as a container's service account. Nothing is sent yet.
 * Files of tokens, certificates and authorities are read for each request, because they rotate. The
 * kubeconfig is read again, and its plugin runs again, as soon as a token is rejected (401).
 * @throws ClusterError
 */
export async function connectCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { timeoutMs = 10_000 } = options;
  const agent = { 'http:': new HttpAgent(KEPT), 'https:': new HttpsAgent(KEPT) };
  let credentials = await loadCredentials(options);
  let stale = false;
  const { server, namespace } = credentials;

  const send = async (request: ApiRequest, signal: AbortSignal) => {
    if (stale) credentials = await loadCredentials(options);
    stale = false;
    const url = urlOf(server, request);
    const made = await optionsOf(credentials, request);
    return exchange(
      url,
      { agent: agent[url.protocol as 'https:'], ...made, signal },
      request.body,
      request.timeoutMs ?? timeoutMs,
    );
  };
  const open = async (request: ApiRequest, signal: AbortSignal) => {
    try {
      const answer = await send(request, signal);
      if (answer.statusCode !== 401) return answer;
      answer.resume();
      stale = true;
      return await send(request, signal);
    } catch (error) {
      stale = true;
      throw toClusterError(server, error);
    }
  };
  const call = async (request: ApiRequest) => {
    const inTime = AbortSignal.timeout(request.timeoutMs ?? timeoutMs);
    const answer = await open(request, inTime);
    try {
      const { statusCode: status = 0 } = answer;
      const text = await readText(answer);
      if (status < 400) return { status, body: JSON.parse(text) };
      return { status, body: errorBody(text), ...retryAfter(answer) };
    } catch (error) {
      throw toClusterError(server, inTime.aborted ? inTime.reason : error);
    }
  };
  const close = () => {
    for (const each of Object.values(agent)) each.destroy();
  };
  return { server, namespace, call, open, close };
}

const KEPT = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS };

function urlOf(server: string, { path, query = {} }: ApiRequest): URL {
  const url = new URL(server + path);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

async function optionsOf(credentials: Credentials, request: ApiRequest): Promise<RequestOptions> {
  const { headers, ...options } = await credentials.options();
  const { method, body, contentType = 'application/json', accept = 'application/json' } = request;
  // Node gives a DELETE with a body no length, and the body would begin the next request.
  const length = Buffer.byteLength(JSON.stringify(body) ?? '');
  const content =
    body === undefined ? {} : { 'content-type': contentType, 'content-length': String(length) };
  return {
    ...options,
    method,
    headers: { ...(headers as object), ...content, accept },
  };
}

/** A date in place of seconds, which no API server sends, and a negative number are none. */
function retryAfter({ headers }: IncomingMessage): Pick<ApiAnswer, 'retryAfterMs'> {
  const seconds = headers['retry-after'] ?? '';
  return /^\d{1,9}$/.test(seconds)
    ? { retryAfterMs: Math.min(Number(seconds) * 1_000, LONGEST_RETRY_MS) }
    : {};
}

/** Resolves with the head of the answer, which must come within the given time. */
function exchange(
  url: URL,
  options: RequestOptions,
  body: object | undefined,
  headMs: number,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'http:' ? httpRequest : httpsRequest)(url, options);
    const timer = setTimeout(() => request.destroy(new DOMException('', 'TimeoutError')), headMs);
    request.on('close', () => clearTimeout(timer)).on('error', reject);
    request.on('response', answer => {
      clearTimeout(timer);
      resolve(answer);
    });
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/**
 * Parses the body of an error. It is mostly JSON, but plain text for an unknown path or from a
 * proxy.
 */
export function errorBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { message: text.trim().slice(0, 200) };
  }
}

async function readText(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES)
      throw new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Makes a ClusterError that tells only the kind of error. Errors of files and sockets hold paths
 * and addresses, and those of JSON.parse hold pieces of the answer.
 */
export function toClusterError(server: string, error: unknown): ClusterError {
  if (error instanceof ClusterError) return error;
  const reason =
    error instanceof SyntaxError
      ? 'the answer is not JSON'
      : error instanceof Error
        ? whyFailed(error)
        : 'unknown';
  return new ClusterError(`The Kubernetes API at ${server} does not answer: ${reason}`);
}

function whyFailed(error: Error): string {
  if (error.name === 'TimeoutError') return 'it took too long';
  const cause = error.cause instanceof Error ? error.cause : error;
  if (cause.name === 'TimeoutError') return 'it took too long';
  return cause.message === 'aborted' ? 'the connection was cut' : cause.message;
}
