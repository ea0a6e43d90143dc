import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Cluster } from '#kubernetes/cluster.ts';
import { pollingClient } from '../polling-client.ts';
import { changeSlice, createSlice } from './slices.ts';

export type Probe = {
  /**
   * Moves the service to its other instance. Returns how long it took, in ms from before the write,
   * until Envoy sends requests there.
   */
  move(): Promise<number>;
  close(): void;
};

/**
 * Creates a service with one instance at a time, of two that really run. They use an address of
 * this machine that is not of the loopback, which slices reject.
 */
export async function createProbe(cluster: Cluster, service: string) {
  const address = ownAddress();
  const servers = await Promise.all(['one', 'two'].map(name => serve(name, address)));
  const ports = servers.map(server => (server.address() as AddressInfo).port);
  await createSlice(cluster, service, ports[0] ?? 0, [address]);
  return {
    /** `url` is that of an Envoy that sends all requests to the service. */
    through(url: string): Probe {
      const client = pollingClient(url);
      let at = 0;
      return {
        async move() {
          at = 1 - at;
          const wanted = ['one', 'two'][at];
          const start = performance.now();
          const written = changeSlice(cluster, service, {
            ports: [{ name: 'http', port: ports[at], protocol: 'TCP' }],
          });
          await client.until(({ hostname }) => hostname === wanted);
          const ms = performance.now() - start;
          await written;
          return ms;
        },
        close() {
          client.close();
          for (const server of servers) server.close();
        },
      };
    },
  };
}

async function serve(hostname: string, address: string): Promise<http.Server> {
  const server = http.createServer(
    (_request, response) => void response.end(JSON.stringify({ hostname })),
  );
  server.listen(0, address);
  await once(server, 'listening');
  return server;
}

function ownAddress(): string {
  const found = Object.values(networkInterfaces())
    .flatMap(each => each ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal);
  if (found === undefined)
    throw new Error('This machine has no IPv4 address but those of the loopback');
  return found.address;
}
