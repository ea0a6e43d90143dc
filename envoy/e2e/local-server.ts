import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export type LocalServer = {
  readonly port: number;
  /** Stops, and cuts the connections that are open. */
  close(): Promise<void>;
};

/** Lets a server listen on the loopback interface. Default port: any free one. */
export async function listenLocally(server: Server | TlsServer, port = 0): Promise<LocalServer> {
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const close = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return { port: (server.address() as AddressInfo).port, close };
}
