import type { RequestListener } from 'node:http';
import http from 'node:http';
import net from 'node:net';

/** Both protocols of one port: HTTP/2 with prior knowledge (gRPC) and HTTP/1.1. */
export type Protocols = { http2(socket: net.Socket): void; http1: RequestListener };

export type Listening = { address: string; port: number; close(): Promise<void> };

/** A peer that connects and says nothing is dropped after this time, in ms. */
const FIRST_BYTES_MS = 10_000;

/** How every HTTP/2 connection begins. Source: RFC 9113, section 3.4. */
const PREFACE = Buffer.from('PRI ');

/**
 * Listens on `host`:`port` (0: any free port) and gives each connection to the protocol that its first bytes speak.
 * `close` stops accepting and ends idle HTTP/1.1 connections. Rejects with the system's error, for example EADDRINUSE.
 */
export async function listen(host: string, port: number, protocols: Protocols): Promise<Listening> {
  const http1 = http.createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, protocols.http1);
  // Node begins to watch for slow and idle connections at this event, which a server that never listens itself does not see.
  http1.emit('listening');
  const server = net.createServer({ noDelay: true }, socket => {
    sniff(socket, protocols.http2, accepted => http1.emit('connection', accepted));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const bound = server.address() as net.AddressInfo;
  return { address: bound.address, port: bound.port, close: () => close(server, http1) };
}

function sniff(
  socket: net.Socket,
  http2: (socket: net.Socket) => void,
  http1: (socket: net.Socket) => void,
): void {
  const drop = () => socket.destroy();
  socket.on('error', drop);
  socket.setTimeout(FIRST_BYTES_MS, drop);
  socket.once('readable', () => {
    const first: Buffer | null = socket.read();
    if (first === null) return;
    socket.setTimeout(0);
    socket.off('timeout', drop);
    socket.unshift(first);
    (first.subarray(0, PREFACE.length).equals(PREFACE.subarray(0, first.length)) ? http2 : http1)(socket);
  });
}

async function close(server: net.Server, http1: http.Server): Promise<void> {
  const closed = new Promise<void>(resolve => server.close(() => resolve()));
  http1.close();
  http1.closeIdleConnections();
  await closed;
}
