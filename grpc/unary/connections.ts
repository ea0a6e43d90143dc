import {
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerSessionOptions,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import type { UnaryLimits } from './answering.ts';

/** Answers a stream. `raw` has names and values in turn, as they came. */
export type OnStream = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  raw: readonly string[],
) => void;

/**
 * More streams at once, header bytes and header fields than the calls of any proxy have. Node
 * reports the bytes to the peer, but lets more pass [measured].
 */
export const MAX_STREAMS = 1_024;
export const MAX_HEADER_BYTES = 32 * 1_024;
export const MAX_HEADERS = 128;
/**
 * Limits one connection. CONTINUATION, SETTINGS and PING floods are bounded by nghttp2. Nothing is
 * read from a peer that does not read its answers. Source: RFC 9113, section 10.5, and Node's page
 * on HTTP/2.
 */
const SESSION: ServerSessionOptions = {
  maxHeaderListPairs: MAX_HEADERS,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
  settings: {
    maxConcurrentStreams: MAX_STREAMS,
    maxHeaderListSize: MAX_HEADER_BYTES,
    enablePush: false,
  },
};

/** The HTTP/2 connections of a server. */
export class Connections {
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #onConnection: () => OnStream;
  readonly #keepAlive: UnaryLimits['keepAlive'];
  readonly #options: ServerSessionOptions;

  /** `onConnection` returns what answers the streams of a new connection. */
  constructor(
    onConnection: () => OnStream,
    { keepAlive, resets }: Pick<UnaryLimits, 'keepAlive' | 'resets'>,
  ) {
    this.#onConnection = onConnection;
    this.#keepAlive = keepAlive;
    this.#options = {
      ...SESSION,
      streamResetBurst: resets.burst,
      streamResetRate: resets.perSecond,
    };
  }

  /** Speaks HTTP/2 on a connection that another server accepted. */
  accept(socket: Duplex): void {
    const session = performServerHandshake(socket, this.#options);
    this.#sessions.add(session);
    session.on('close', () => this.#sessions.delete(session));
    // A peer's mistake ends its own connection, or stream.
    session.on('error', ignore);
    const onStream = this.#onConnection();
    session.on('stream', (stream, headers, _flags, raw) => {
      stream.on('error', ignore);
      // Node reports a stream a turn later, when its peer may have reset it. Then it cannot even be
      // refused.
      if (stream.destroyed) return;
      onStream(stream, headers, raw);
    });
    keepAlive(session, socket, this.#keepAlive);
  }

  /** Tells clients to go elsewhere. Resolves when their calls have ended. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#sessions, drain));
  }
}

/** A call that is on its way is refused with a GOAWAY that says it was not handled. */
function drain(session: ServerHttp2Session): Promise<void> {
  if (session.destroyed) return Promise.resolve();
  return new Promise(resolve => {
    session.once('close', resolve);
    session.close();
  });
}

/** Ends a connection whose peer has gone without notice, or has stopped reading. */
function keepAlive(
  session: ServerHttp2Session,
  socket: Duplex,
  { everyMs, timeoutMs }: UnaryLimits['keepAlive'],
): void {
  const timer = setInterval(() => {
    if (session.destroyed) return;
    const late = setTimeout(() => socket.destroy(), timeoutMs);
    session.ping(() => clearTimeout(late));
  }, everyMs);
  session.once('close', () => clearInterval(timer));
}

function ignore(): void {}
