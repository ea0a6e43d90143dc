import { once } from 'node:events';
import { createServer } from 'node:net';

/** Returns a port that is free at this moment. Another process may take it before it is used. */
export async function freePort(address = '127.0.0.1'): Promise<number> {
  const server = createServer().listen(0, address);
  await once(server, 'listening');
  const bound = server.address();
  server.close();
  await once(server, 'close');
  if (bound === null || typeof bound === 'string') throw new Error(`no TCP port on ${address}`);
  return bound.port;
}
