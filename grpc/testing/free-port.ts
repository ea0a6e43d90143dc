import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * No operating system gives one of these to a client, or to a server that takes any port. A gateway
 * of a test uses those above.
 */
const PORTS = { first: 2_048, last: 6_899 };
const TRIES = 100;

const given = new Set<number>();

/** Returns a port that is free, and that this process gets only once. */
export async function freePort(address = '127.0.0.1'): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(PORTS.first, PORTS.last + 1);
    if (given.has(port) || !(await isFree(port, address))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no TCP port on ${address}`);
}

async function isFree(port: number, address: string): Promise<boolean> {
  const server = createServer().listen({ port, host: address, exclusive: true });
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
