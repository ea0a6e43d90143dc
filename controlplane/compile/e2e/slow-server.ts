import { createServer, type ServerResponse } from 'node:http';
import { listenLocally } from '#envoy/e2e/local-server.ts';

export type SlowServer = {
  readonly address: string;
  /** Resolves when either side has ended a request for `path`. A copy's path ends in `#copy`. */
  ended(path: string): Promise<void>;
  close(): Promise<void>;
};

/** The number of parts of an answer below `/parts`, and the pause between two, in ms. */
export const PARTS = 6;
export const PAUSE_MS = 200;

/**
 * Starts a slow upstream on a free loopback port. Below `/parts` it answers at once and sends one
 * part after the other. Below `/upload` it answers with the length of the body. Elsewhere, and to
 * copies, it never answers.
 */
export async function startSlowServer(): Promise<SlowServer> {
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const endOf = (path: string) => {
    const end = ends.get(path) ?? Promise.withResolvers<void>();
    ends.set(path, end);
    return end;
  };
  const server = createServer((request, response) => {
    const { headers, url = '' } = request;
    const isCopy = /-shadow(?::|$)/.test(headers.host ?? '');
    response.once('close', () => endOf(isCopy ? `${url}#copy` : url).resolve());
    if (url.startsWith('/parts') && !isCopy) sendParts(response);
    else if (url.startsWith('/upload')) {
      let length = 0;
      request
        .on('data', (part: Buffer) => {
          length += part.length;
        })
        .on('end', () => response.end(String(length)));
    } else request.resume();
  });
  const { close, port } = await listenLocally(server);
  return {
    address: `127.0.0.1:${port}`,
    ended: path => endOf(path).promise,
    close,
  };
}

function sendParts(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let sent = 0;
  const timer = setInterval(() => {
    sent += 1;
    response.write(`data: ${sent}\n\n`);
    if (sent < PARTS) return;
    clearInterval(timer);
    response.end();
  }, PAUSE_MS);
  response.once('close', () => clearInterval(timer));
}
