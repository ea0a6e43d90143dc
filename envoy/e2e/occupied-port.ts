import { type AddressInfo, createServer } from 'node:net';

/** A loopback port that another process has. */
export type OccupiedPort = { readonly port: number; free(): Promise<void> };

/** Occupies a port. Default: any free one. */
export function occupyPort(port = 0): Promise<OccupiedPort> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    const free = () => new Promise<void>(done => void server.close(() => done()));
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      resolve({ port: (server.address() as AddressInfo).port, free });
    });
    server.unref();
  });
}
