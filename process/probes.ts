import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { onceATurn } from './once-a-turn.ts';

/** What a service says of itself. */
export type ProbeSources = {
  /**
   * Returns why requests are not answered yet.
   * @returns undefined when they are answered
   */
  notReady(): string | undefined | Promise<string | undefined>;
  /** Returns the metrics in Prometheus' text format. */
  metrics(): Promise<string>;
};

export type ProbeParts = ProbeSources & {
  /** Hears of errors that are ours. The client gets 500. */
  onError(error: unknown): void;
};

/** Answers a request. It may fail before it has sent anything. */
type Others = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

type Answer = { readonly status: number; readonly type: string; readonly body: string };

const METHODS = 'GET, HEAD';
const TEXT = 'text/plain; charset=utf-8';
const PROMETHEUS = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Answers `/healthz` (it runs), `/readyz` (503 with the reason while it is not ready) and
 * `/metrics`, and leaves all else to `others`. It does without express, whose 128 modules would be
 * a fifth of those of a service.
 */
export function probes(parts: ProbeParts, others: Others): RequestListener {
  const metrics = onceATurn(() => parts.metrics());
  const answers = new Map<string, () => Answer | Promise<Answer>>([
    ['/healthz', () => ({ status: 200, type: TEXT, body: 'ok\n' })],
    ['/readyz', async () => readiness(await parts.notReady())],
    ['/metrics', async () => ({ status: 200, type: PROMETHEUS, body: await metrics() })],
  ]);
  const handle: Others = async (request, response) => {
    const answer = answers.get(pathOf(request));
    if (answer === undefined) await others(request, response);
    else if (request.method !== 'GET' && request.method !== 'HEAD') refuse(response);
    else send(response, await answer());
  };
  return async (request, response) => {
    try {
      await handle(request, response);
    } catch (error) {
      parts.onError(error);
      sendError(response, 500, 'internal error, see the log');
    }
  };
}

/** Answers with `{ error }`. */
export function sendError(response: ServerResponse, status: number, error: string): void {
  const body = JSON.stringify({ error });
  send(response, { status, type: 'application/json; charset=utf-8', body });
}

/** Letter case and a slash at the end make no difference, as with express. */
function pathOf({ url = '' }: IncomingMessage): string {
  const path = url.startsWith('/') ? url.split('?', 1)[0] : URL.parse(url)?.pathname;
  return (path ?? '').toLowerCase().replace(/(?<=[^/])\/$/, '');
}

function readiness(reason: string | undefined): Answer {
  return reason === undefined
    ? { status: 200, type: TEXT, body: 'ready\n' }
    : { status: 503, type: TEXT, body: `not ready: ${reason}\n` };
}

function refuse(response: ServerResponse): void {
  response.setHeader('Allow', METHODS);
  sendError(response, 405, `method not allowed, use ${METHODS}`);
}

function send(response: ServerResponse, { body, status, type }: Answer): void {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}
