import { createServer, type Server } from 'node:net';
import { checkPorts } from '#launcher/port-check.ts';
import { wantedPorts } from '#launcher/wanted-ports.ts';

/** A port offset that only this process uses until it is released or the process ends. */
export type PortOffset = { readonly offset: number; release(): void };

export type PortOffsets = { readonly first: number; readonly last: number };

/**
 * Above the offsets of the launcher's own tests, and below those whose ports the system gives to
 * clients.
 */
const OFFSETS: PortOffsets = { first: 14_100, last: 14_700 };
/**
 * Offsets that are 4,800, 8,100 or 12,900 apart share ports, for different parts. No two such
 * offsets may be used at a time.
 */
const STEP = 100;

/**
 * No part of a system listens on this port plus its offset. A process that does so has claimed the
 * offset.
 */
const CLAIM = 4_999;

/**
 * Claims an offset at which all ports of a system are free, also when other test files look for one
 * at the same time.
 */
export async function claimPortOffset({ first, last } = OFFSETS): Promise<PortOffset> {
  const places = (last - first) / STEP + 1;
  // Files that start together begin their search at different places.
  const start = process.pid % places;
  for (let place = 0; place < places; place++) {
    const offset = first + ((start + place) % places) * STEP;
    const claim = await listen(CLAIM + offset);
    if (claim === undefined) continue;
    const taken = await checkPorts(wantedPorts(offset, 6, true)).catch((error: unknown) => error);
    if (taken === undefined) return { offset, release: () => claim.close() };
    claim.close();
  }
  throw new Error(`No port offset from ${first} to ${last} is free`);
}

function listen(port: number): Promise<Server | undefined> {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server.unref()));
  });
}
