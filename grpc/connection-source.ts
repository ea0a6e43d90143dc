import type { Socket } from 'node:net';

export type ListeningAt = { readonly address: string; readonly port: number };

/**
 * Listens in place of a server. Calls `take` for each connection that another process has accepted,
 * and resolves with the address. Rejects with the system's error when it cannot listen.
 */
export type ConnectionSource = (
  at: { readonly host: string; readonly port: number },
  take: (socket: Socket) => void,
) => Promise<ListeningAt>;
