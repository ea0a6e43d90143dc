import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A wire to a loopback port that can be cut. */
export type CutProxy = {
  readonly port: number;
  /** Ends all connections, and takes no new ones until `mend`. */
  cut(): void;
  /** Keeps connections open, but nothing passes through them any more. New ones work. */
  freeze(): void;
  mend(): void;
  close(): void;
};

export async function startCutProxy(target: number): Promise<CutProxy> {
  let isCut = false;
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer(client => {
    if (isCut) return void client.destroy();
    const upstream = connect(target, '127.0.0.1');
    const pair = [client, upstream] as const;
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) socket.on('error', end).on('close', end);
    client.pipe(upstream).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const cut = () => {
    isCut = true;
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cut,
    freeze() {
      for (const [client, upstream] of pairs) {
        client.unpipe();
        upstream.unpipe();
        client.pause();
        upstream.pause();
      }
    },
    mend() {
      isCut = false;
    },
    close() {
      cut();
      server.close();
    },
  };
}
