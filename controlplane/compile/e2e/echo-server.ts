import { createServer, type IncomingHttpHeaders } from 'node:http';
import { listenLocally } from '#envoy/e2e/local-server.ts';

/** The request that an upstream got, as it answers it. */
export type Echo = {
  readonly server: string;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
};

/**
 * Starts an upstream on a free loopback port that answers each request with the request itself,
 * once it has read it. After an earlier answer Envoy would end the request, and the copy of a
 * shadow with it.
 */
export async function startEchoServer(
  name: string,
): Promise<{ readonly address: string; close(): Promise<void> }> {
  const server = createServer({ maxHeaderSize: 256 * 1024 }, (request, response) => {
    const { method = '', url = '', headers } = request;
    const echo: Echo = { server: name, method, path: url, headers };
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(echo));
    });
  });
  const { close, port } = await listenLocally(server);
  return { address: `127.0.0.1:${port}`, close };
}
