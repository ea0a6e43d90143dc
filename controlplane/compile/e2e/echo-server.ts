import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What an upstream was asked, as it answers it. */
export type Echo = {
  readonly server: string;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
};

/**
 * An upstream on a free loopback port that answers each request with what it was, once it has read
 * it: an answer before that has Envoy end the request, and with it the copy of a shadow.
 */
export async function startEchoServer(
  name: string,
): Promise<{ readonly address: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    const echo: Echo = { server: name, method, path: url, headers };
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(echo));
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { address: `127.0.0.1:${port}`, close };
}
