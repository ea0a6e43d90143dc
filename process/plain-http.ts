import { once } from 'node:events';
import http, { type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Exit } from './exit.ts';

export type PlainHttp = { readonly port: number; close(): void };

/**
 * Serves what probes and monitoring ask for on a port of its own, HTTP_ADDRESS, since they have no certificate for the other one.
 * An address that cannot be listened on ends the process.
 */
export async function servePlainHttp(
  listener: RequestListener,
  { host, port }: { readonly host: string; readonly port: number },
  exit: Exit,
): Promise<PlainHttp> {
  const server = http.createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, listener);
  server.listen(port, host);
  await once(server, 'listening').catch((error: Error) =>
    exit(`HTTP_ADDRESS: cannot listen on ${host} port ${port}: ${error.message}`),
  );
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { port: (server.address() as AddressInfo).port, close };
}
