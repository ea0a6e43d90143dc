import type { Reply } from './connection.ts';
import type { Address } from './description.ts';
import { SLOTS } from './key-slot.ts';

export type SlotRange = { readonly from: number; readonly to: number; readonly master: Address };

/**
 * Parses the answer of CLUSTER SLOTS: for each range its master. Replicas are left out. A node that
 * does not know its own address gives an empty one. That means the node that was asked,
 * `askedHost`. https://redis.io/docs/latest/commands/cluster-slots/
 */
export function parseClusterSlots(reply: Reply, askedHost: string): readonly SlotRange[] {
  if (!Array.isArray(reply)) return [];
  return reply.flatMap((range: Reply) => {
    if (!Array.isArray(range) || !Array.isArray(range[2])) return [];
    const [from, to, [host, port]] = range;
    if (!isSlot(from) || !isSlot(to) || typeof port !== 'number' || host === '?') return [];
    return [
      {
        from,
        to,
        master: { host: typeof host === 'string' && host !== '' ? host : askedHost, port },
      },
    ];
  });
}

export type Redirect = {
  readonly kind: 'MOVED' | 'ASK';
  readonly slot: number;
  readonly address: Address;
};

/**
 * Parses `MOVED 3999 127.0.0.1:6381` or `ASK …`.
 * @returns undefined for anything else, and when the node does not know the other's address
 */
export function parseRedirect(message: string): Redirect | undefined {
  const parts = /^(MOVED|ASK) (\d{1,5}) (\S+):(\d{1,5})$/.exec(message);
  if (parts === null) return undefined;
  const [, kind, slot, host = '', port] = parts;
  if (!isSlot(Number(slot))) return undefined;
  return {
    kind: kind === 'ASK' ? 'ASK' : 'MOVED',
    slot: Number(slot),
    address: { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) },
  };
}

function isSlot(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < SLOTS;
}
