import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What an upstream was asked, as it answers it. */
export type Echo = {
  readonly server: string;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
};

/** An upstream on a free loopback port that answers each request with what it was. */
export async function startEchoServer(
  name: string,
): Promise<{ readonly address: string; close(): Promise<void> }> {
  const server = createServer(({ method = '', url = '', headers }, response) => {
    const echo: Echo = { server: name, method, path: url, headers };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(echo));
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
