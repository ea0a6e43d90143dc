import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ConnectionSource } from '#grpc/connection-source.ts';
import { createHttpServer } from '#grpc/http-server.ts';
import type { Exit } from './exit.ts';

export type PlainHttp = { readonly port: number; close(): void };

/**
 * Serves probes and monitoring on a port of their own, HTTP_ADDRESS, because they have no
 * certificate for the other one. `source` accepts connections in place of the server itself. An
 * address that cannot be listened on ends the process.
 */
export async function servePlainHttp(
  listener: RequestListener,
  { host, port }: { readonly host: string; readonly port: number },
  exit: Exit,
  source?: ConnectionSource,
): Promise<PlainHttp> {
  const server = createHttpServer(listener);
  const listening =
    source === undefined
      ? bind(server, host, port)
      : source({ host, port }, socket => void server.emit('connection', socket));
  const at = await listening.catch((error: Error) =>
    exit(`HTTP_ADDRESS: cannot listen on ${host} port ${port}: ${error.message}`),
  );
  // Node begins to watch for slow connections at this event. A server that does not listen itself
  // does not emit it.
  if (source !== undefined) server.emit('listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { port: at.port, close };
}

async function bind(server: Server, host: string, port: number): Promise<AddressInfo> {
  server.listen(port, host);
  await once(server, 'listening');
  return server.address() as AddressInfo;
}
