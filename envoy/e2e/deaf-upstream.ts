import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { until } from './until.ts';

/**
 * A port at which connections are neither accepted nor refused. Its queue is full, and nobody ever
 * empties it.
 */
export type DeafUpstream = { readonly port: number; close(): Promise<void> };

const DEAF = `
const { createServer } = require('node:net');
const { parentPort } = require('node:worker_threads');
const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
`;

export async function startDeafUpstream(): Promise<DeafUpstream> {
  const worker = new Worker(DEAF, { eval: true });
  const [port] = (await once(worker, 'message')) as [number];
  const queued: Socket[] = [];
  await until(
    async () => ((await isQueued(port, queued)) ? undefined : true),
    30_000,
    'a full queue',
  );
  const close = async () => {
    for (const socket of queued) socket.destroy();
    await worker.terminate();
  };
  return { port, close };
}

/**
 * Opens one more connection. A connection that is open, but that a busy process has not seen yet,
 * is seen before `setImmediate`.
 * @returns false when the queue has no room for it
 */
function isQueued(port: number, queued: Socket[]): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => {});
  queued.push(socket);
  return new Promise(resolve => {
    socket.once('connect', () => resolve(true));
    socket.setTimeout(200, () => setImmediate(() => resolve(!socket.connecting)));
  });
}
