import type { RequestListener, ServerResponse } from 'node:http';
import net from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ConnectionSource } from './connection-source.ts';
import { formatHostPort } from './host-port.ts';
import { createHttpServer } from './http-server.ts';
import { Newcomers } from './newcomers.ts';
import { sniff } from './sniff.ts';
import { createTlsServer, type TlsServerOptions } from './tls.ts';

/** Both protocols of one port: HTTP/2 with prior knowledge (gRPC) and HTTP/1.1. */
export type Protocols = { http2(socket: net.Socket): void; http1: RequestListener };

export type ListenOptions = {
  readonly host: string;
  /** 0 is any free port. */
  readonly port: number;
  readonly protocols: Protocols;
  /** Mutual TLS. Without it all connections are plain text. */
  readonly tls?: TlsServerOptions | undefined;
  /**
   * A peer that connects and sends nothing is dropped after this time, in ms. So is one whose TLS
   * handshake takes longer. Default: 10 s.
   */
  readonly firstBytesMs?: number;
  /** Connections that have not said yet who they are and what they speak. Default: 4,096. */
  readonly mostNew?: number;
  /**
   * Further connections are closed before a byte of them is read. Without it the limit is that of
   * open files.
   */
  readonly maxConnections?: number;
  /** Accepts connections in place of the server itself. */
  readonly source?: ConnectionSource | undefined;
};

export type Listening = {
  readonly address: string;
  readonly port: number;
  /** Stops accepting, and ends idle connections. Resolves when the last connection has ended. */
  close(): Promise<void>;
  /** Cuts every connection. */
  destroy(): void;
};

const FIRST_BYTES_MS = 10_000;
/** More than a fleet of proxies opens at once. Each takes up to 90 KiB while it shakes hands. */
const MOST_NEW = 4_096;

/**
 * Listens, and gives each connection to the protocol that its first bytes speak. Rejects with the
 * system's error, such as "listen EADDRINUSE: address already in use 127.0.0.1:18000".
 */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { host, maxConnections, port, protocols, source } = options;
  const { firstBytesMs = FIRST_BYTES_MS, mostNew = MOST_NEW } = options;
  const http1 = createHttp1(protocols.http1);
  const open = new Set<net.Socket>();
  let lastClosed = () => {};
  const newcomers = new Newcomers(mostNew);
  const unknown = new Set<net.Socket>();
  let isClosing = false;
  const watch = (socket: net.Socket) => {
    open.add(
      socket.once('close', () => {
        open.delete(socket);
        if (open.size === 0) lastClosed();
      }),
    );
    // A connection that breaks concerns its peer alone. The protocol's server sees it end.
    socket.on('error', () => socket.destroy());
  };
  const accept = async (socket: net.Socket) => {
    // Its handshake went on while the port was closed. Nothing begins on it any more.
    if (isClosing) return void socket.destroy();
    watch(socket);
    unknown.add(socket);
    const protocol = await sniff(socket, firstBytesMs);
    unknown.delete(socket);
    newcomers.delete(socket);
    if (protocol === 'http2') protocols.http2(socket);
    if (protocol === 'http1') http1.accept(socket);
  };
  const server = createServer(options.tls, firstBytesMs, watch, accept);
  server.on('connection', socket => newcomers.add(socket));
  if (maxConnections !== undefined) server.maxConnections = maxConnections;
  // `open` cannot be used, because it has an encrypted connection twice: as it came, and as it
  // speaks.
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
    // The server does not wait for connections that it has not accepted itself.
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

/**
 * Creates the server. `watch` hears of connections that are not encrypted yet, and `accept` of
 * those that may speak.
 */
function createServer(
  tls: TlsServerOptions | undefined,
  handshakeMs: number,
  watch: OnSocket,
  accept: OnSocket,
): net.Server {
  if (tls === undefined) return net.createServer({ noDelay: true }, accept);
  const refuse = ({ remoteAddress: host, remotePort: port }: net.Socket, reason: string) =>
    tls.onRefused?.(
      host === undefined || port === undefined ? 'gone' : formatHostPort({ host, port }),
      reason,
    );
  const server = createTlsServer(tls, handshakeMs);
  server.on('connection', watch);
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    const { authorizationError } = socket;
    // A peer that hangs up by itself, such as a probe of the port, was not refused.
    if (authorizationError) refuse(socket, String(authorizationError));
    else if (error.code !== 'ECONNRESET') refuse(socket, reasonOf(error));
    // Node leaves a connection open whose handshake took too long.
    socket.destroy();
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    const certificate = socket.getPeerX509Certificate();
    if (certificate !== undefined && tls.allows(certificate)) return accept(socket);
    refuse(socket, 'the certificate is not of a peer that may talk here');
    socket.destroy();
  });
  return server;
}

/** Returns OpenSSL's short reason. Its message also has the place in its sources. */
function reasonOf(error: Error): string {
  return 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
}

/** Serves HTTP/1.1 on connections that another server accepts. */
function createHttp1(listener: RequestListener): {
  accept(socket: net.Socket): void;
  close(): void;
} {
  let closing = false;
  const server = createHttpServer(listener);
  const endIdle = () => {
    if (closing) server.closeIdleConnections();
  };
  // The connection counts as idle one turn later.
  server.on('request', (_request, response: ServerResponse) =>
    response.once('close', () => setImmediate(endIdle)),
  );
  // Node watches for slow and idle connections from this event on. A server that never listens
  // itself does not emit it.
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
