import { createServer, type ServerResponse } from 'node:http';
import { listenLocally } from '#envoy/e2e/local-server.ts';

export type HoldingServer = {
  readonly address: string;
  /** Returns how many requests wait for their answer. */
  held(): number;
  /** Answers those, and from now on each at once. */
  release(): void;
  /** Returns how many connections there have been. */
  connections(): number;
  /** Resolves when the other side ends a connection that asked for `path`. */
  ended(path: string): Promise<void>;
  close(): Promise<void>;
};

/**
 * Starts an upstream on a free loopback port that keeps requests below `/hold` waiting, and ends no
 * connection.
 */
export async function startHoldingServer(): Promise<HoldingServer> {
  const waiting = new Set<ServerResponse>();
  const ends = new Map<string, Promise<void>>();
  let released = false;
  let connections = 0;
  const server = createServer(({ url = '', socket }, response) => {
    if (!ends.has(url))
      ends.set(url, new Promise(resolve => socket.once('close', () => resolve())));
    if (!url.startsWith('/hold') || released) return void response.end('answered');
    waiting.add(response);
    response.once('close', () => waiting.delete(response));
  });
  server.keepAliveTimeout = 600_000;
  server.on('connection', () => {
    connections += 1;
  });
  const { close, port } = await listenLocally(server);
  return {
    address: `127.0.0.1:${port}`,
    held: () => waiting.size,
    release: () => {
      released = true;
      for (const response of waiting) response.end('answered');
    },
    connections: () => connections,
    ended: async path => await ends.get(path),
    close,
  };
}
