import type { Socket } from 'node:net';

export type ListeningAt = { readonly address: string; readonly port: number };

/**
 * Listens in place of a server: calls `take` for each connection that somebody else has accepted
 * there, and resolves with where that is. Rejects with the system's error when that cannot be.
 */
export type ConnectionSource = (
  at: { readonly host: string; readonly port: number },
  take: (socket: Socket) => void,
) => Promise<ListeningAt>;
