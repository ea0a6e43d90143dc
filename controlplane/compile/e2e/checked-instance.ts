import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How an instance fails, or that it does not. */
export type Mode =
  | 'well'
  | 'well by checks alone'
  | 'silent'
  | 'status 500'
  | 'status 503'
  | 'refusing'
  | 'reset';

export type CheckedInstance = {
  readonly address: string;
  /** Resolves when it fails so. */
  become(mode: Mode): Promise<void>;
  /** The headers of the requests to `/healthz?deep` since the start. */
  readonly checks: readonly IncomingHttpHeaders[];
  close(): Promise<void>;
};

/** Starts an upstream on a free loopback port that answers with its name as long as it is well. */
export async function startCheckedInstance(name: string): Promise<CheckedInstance> {
  let mode: Mode = 'well';
  const checks: IncomingHttpHeaders[] = [];
  const waiting = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    if (request.url === '/healthz?deep') checks.push(request.headers);
    if (mode === 'silent') return void waiting.add(response);
    if (mode === 'reset') return void request.socket.destroy();
    const isFailing = mode === 'well by checks alone' && request.url !== '/healthz?deep';
    if (isFailing) return void response.writeHead(503).end();
    const status = mode.startsWith('status') ? Number(mode.slice(7)) : 200;
    response.writeHead(status).end(JSON.stringify({ hostname: name }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const stopListening = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return {
    address: `127.0.0.1:${port}`,
    checks,
    become: async next => {
      mode = next;
      if (next === 'refusing') return stopListening();
      if (!server.listening) await once(server.listen(port, '127.0.0.1'), 'listening');
      if (next === 'well') for (const response of waiting) response.destroy();
    },
    close: stopListening,
  };
}
