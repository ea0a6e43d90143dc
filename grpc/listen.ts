import http, { type RequestListener, type ServerResponse } from 'node:http';
import net from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ConnectionSource } from './connection-source.ts';
import { formatHostPort } from './host-port.ts';
import { sniff } from './sniff.ts';
import { createTlsServer, type TlsServerOptions } from './tls.ts';

/** Both protocols of one port: HTTP/2 with prior knowledge (gRPC) and HTTP/1.1. */
export type Protocols = { http2(socket: net.Socket): void; http1: RequestListener };

export type ListenOptions = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly protocols: Protocols;
  /** Mutual TLS; without it all is plain. */
  readonly tls?: TlsServerOptions | undefined;
  /** A peer that connects and says nothing is dropped after this time; default 10 s. */
  readonly firstBytesMs?: number;
  /**
   * Further connections are closed before a byte is read of them; without it as many as there are
   * files.
   */
  readonly maxConnections?: number;
  /** Who accepts connections in place of the server itself. */
  readonly source?: ConnectionSource | undefined;
};

export type Listening = {
  readonly address: string;
  readonly port: number;
  /** Stops accepting and ends connections that do nothing; resolves when the last one has ended. */
  close(): Promise<void>;
  /** Cuts every connection. */
  destroy(): void;
};

const FIRST_BYTES_MS = 10_000;

/**
 * Listens and gives each connection to the protocol that its first bytes speak. Rejects with the
 * system's error, such as "listen EADDRINUSE: address already in use 127.0.0.1:18000".
 */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { host, maxConnections, port, protocols, source, firstBytesMs = FIRST_BYTES_MS } = options;
  const http1 = createHttp1(protocols.http1);
  const open = new Set<net.Socket>();
  let lastClosed = () => {};
  const unknown = new Set<net.Socket>();
  let isClosing = false;
  const watch = (socket: net.Socket) => {
    open.add(
      socket.once('close', () => {
        open.delete(socket);
        if (open.size === 0) lastClosed();
      }),
    );
    // A connection that breaks concerns its peer alone; whoever has got it sees it end.
    socket.on('error', () => socket.destroy());
  };
  const accept = async (socket: net.Socket) => {
    // Its handshake went on while the port was closed: nothing begins with it any more.
    if (isClosing) return void socket.destroy();
    watch(socket);
    unknown.add(socket);
    const protocol = await sniff(socket, firstBytesMs);
    unknown.delete(socket);
    if (protocol === 'http2') protocols.http2(socket);
    if (protocol === 'http1') http1.accept(socket);
  };
  const server = createServer(options.tls, watch, accept);
  if (maxConnections !== undefined) server.maxConnections = maxConnections;
  // Not `open`, which has an encrypted connection twice: as it came, and as it speaks.
  const taken = new Set<net.Socket>();
  const take = (socket: net.Socket) => {
    if (maxConnections !== undefined && taken.size >= maxConnections) return void socket.destroy();
    taken.add(socket.once('close', () => taken.delete(socket)));
    server.emit('connection', socket);
  };
  const bound = await (source === undefined
    ? bind(server, host, port)
    : source({ host, port }, take));
  const close = () => {
    isClosing = true;
    const closed = new Promise<void>(resolve => server.close(() => resolve()));
    http1.close();
    for (const socket of unknown) socket.destroy();
    // Connections that the server has not accepted itself are not among those that it waits for.
    if (source === undefined || open.size === 0) return closed;
    return new Promise<void>(resolve => {
      lastClosed = resolve;
    });
  };
  const destroy = () => {
    for (const socket of open) socket.destroy();
  };
  return { address: bound.address, port: bound.port, close, destroy };
}

type OnSocket = (socket: net.Socket) => void;

/** `watch` hears of connections that are not encrypted yet, `accept` of those that may speak. */
function createServer(
  tls: TlsServerOptions | undefined,
  watch: OnSocket,
  accept: OnSocket,
): net.Server {
  if (tls === undefined) return net.createServer({ noDelay: true }, accept);
  const refuse = ({ remoteAddress: host, remotePort: port }: net.Socket, reason: string) =>
    tls.onRefused?.(
      host === undefined || port === undefined ? 'gone' : formatHostPort({ host, port }),
      reason,
    );
  const server = createTlsServer(tls);
  server.on('connection', watch);
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    const { authorizationError } = socket;
    // Whoever hangs up by himself, as a probe of the port does, was not refused.
    if (authorizationError) refuse(socket, String(authorizationError));
    else if (error.code !== 'ECONNRESET') refuse(socket, reasonOf(error));
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    const certificate = socket.getPeerX509Certificate();
    if (certificate !== undefined && tls.allows(certificate)) return accept(socket);
    refuse(socket, 'the certificate is not of a peer that may talk here');
    socket.destroy();
  });
  return server;
}

/** OpenSSL's few words, where its message has the place in its sources too. */
function reasonOf(error: Error): string {
  return 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
}

/** HTTP/1.1 on connections that somebody else accepts. */
function createHttp1(listener: RequestListener): {
  accept(socket: net.Socket): void;
  close(): void;
} {
  let closing = false;
  const server = http.createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, listener);
  const endIdle = () => {
    if (closing) server.closeIdleConnections();
  };
  // The connection counts as idle one turn later.
  server.on('request', (_request, response: ServerResponse) =>
    response.once('close', () => setImmediate(endIdle)),
  );
  // Node begins to watch for slow and idle connections at this event, which a server that never
  // listens itself does not see.
  server.emit('listening');
  const close = () => {
    closing = true;
    server.close();
  };
  return { accept: socket => void server.emit('connection', socket), close };
}

async function bind(server: net.Server, host: string, port: number): Promise<net.AddressInfo> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server.address() as net.AddressInfo;
}
