import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Longer than Envoy keeps an idle upstream connection (one hour by default), so that the proxy
 * always closes one. When a server closes it, the next request may cross with that and fail.
 */
const KEEP_ALIVE_MS = 65 * 60 * 1000;
/** How long a slow client holds a connection at most (the header, the whole request). */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const TIMEOUT_CHECK_MS = 2000;

export type HttpServer = {
  readonly address: string;
  readonly port: number;
  /**
   * Stops accepting. Resolves when the requests in flight are answered or `graceMs` have passed,
   * whichever is first.
   */
  readonly stop: (graceMs: number) => Promise<void>;
};

export type HttpServerOptions = {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  readonly onRequest: RequestListener;
  /**
   * Hears of a connection that does not speak HTTP, unless its request has been answered already.
   */
  readonly onClientError: (error: NodeJS.ErrnoException, socket: Duplex) => void;
};

/**
 * Listens. Rejects with the system's error (EADDRINUSE, EACCES, EADDRNOTAVAIL, ENOTFOUND) when it
 * cannot.
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  });
  const inFlight = new Set<ServerResponse>();
  const onRequest: RequestListener = (req, res) => {
    inFlight.add(res);
    res.once('close', () => inFlight.delete(res));
    if (!server.listening) res.shouldKeepAlive = false;
    options.onRequest(req, res);
  };
  server.on('request', onRequest);
  // The body's reader sends `100 Continue`, or refuses before the client sends anything.
  server.on('checkContinue', onRequest);
  server.on('clientError', (error, socket) => {
    const answered = [...inFlight].some(res => res.socket === socket && res.headersSent);
    if (answered) socket.destroy();
    else options.onClientError(error, socket);
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');

  return { ...boundAddress(server), stop: graceMs => stop(server, inFlight, graceMs) };
}

async function stop(
  server: Server,
  inFlight: ReadonlySet<ServerResponse>,
  graceMs: number,
): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  for (const res of inFlight) res.shouldKeepAlive = false; // else their connections would stay open
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}

function boundAddress(server: Server): Pick<HttpServer, 'address' | 'port'> {
  const { address, port } = server.address() as AddressInfo;
  return { address, port };
}
