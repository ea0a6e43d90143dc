import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** What an upstream got, and who it is. */
export type Echo = {
  readonly hostname: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** A real HTTP server on the loopback interface that answers with what it was asked. */
export type Upstream = {
  readonly port: number;
  /** How many requests it got. */
  requests(): number;
  close(): Promise<void>;
};

/** Path of which the answer never comes. */
export const SILENT = '/silent';

/** Starts an upstream that calls itself `hostname`, on any free port unless one is given. */
export async function startUpstream(hostname: string, port = 0): Promise<Upstream> {
  let requests = 0;
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    requests += 1;
    const { headers, method = '', url = '' } = incoming;
    if (url.startsWith(SILENT)) return;
    outgoing.setHeader('Content-Type', 'application/json');
    outgoing.end(JSON.stringify({ hostname, method, url, headers }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    requests: () => requests,
    close: () => closeServer(server),
  };
}

function closeServer(server: http.Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
