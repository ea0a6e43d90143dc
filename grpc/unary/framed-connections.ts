import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { Connection, type ConnectionOptions } from '#grpc/http2/connection.ts';
import { encodeFields } from '#grpc/http2/hpack-encode.ts';
import { BlockPool } from '#grpc/http2/output.ts';
import type { RequestHead } from '#grpc/http2/request-head.ts';
import type { SessionLimits } from '#grpc/http2/session.ts';
import type { RequestReader, Stream } from '#grpc/http2/stream.ts';
import { KeptBytes } from '#grpc/kept-bytes.ts';
import { type Answering, MAX_HEADER_BYTES, MAX_HEADERS, MAX_STREAMS } from './answering.ts';
import { httpRefusal, readTimeout, TOO_LONG, UNKNOWN } from './check-headers.ts';
import { FramedCall, refuseStream, type SharedLimits } from './framed-call.ts';
import { answerFramedParts } from './framed-parts.ts';
import type { Failure, UnaryCall, UnaryMethod, UnaryPeer } from './method.ts';
import type { AnswerParts } from './reflection-stream.ts';

const LIMITS: Omit<SessionLimits, 'resets'> = {
  maxStreams: MAX_STREAMS,
  maxFields: MAX_HEADERS,
  maxBytes: MAX_HEADER_BYTES,
  idleFrames: { burst: 2_000, perSecond: 1_000 },
};

/** What a request asks for. */
type Route =
  | { readonly method: UnaryMethod; readonly call: UnaryCall }
  | { readonly answers: AnswerParts }
  | { readonly refusal: Failure }
  | { readonly httpStatus: 405 | 415 };

/** The HTTP/2 connections of a server. */
export class FramedConnections {
  readonly #open = new Set<Connection>();
  readonly #answering: Answering;
  readonly #options: ConnectionOptions;
  readonly #messages: KeptBytes<FramedCall>;
  readonly #answers: KeptBytes<Connection>;

  constructor(answering: Answering) {
    this.#answering = answering;
    const { keepAlive, maxKeptBytes, resets } = answering.limits;
    this.#messages = new KeptBytes(maxKeptBytes, call => call.giveUp());
    this.#answers = new KeptBytes(maxKeptBytes, connection => connection.destroy());
    this.#options = {
      pool: new BlockPool(),
      limits: { ...LIMITS, resets },
      keepAlive,
      now: () => performance.now(),
      onWaiting: (connection, bytes) => this.#answers.set(connection, bytes),
    };
  }

  /** Takes a connection that another server accepted. */
  accept(socket: Duplex): void {
    const connection = new Connection(socket, this.#options, made =>
      requestsOf(made, this.#answering, this.#messages, () => peerOf(socket)),
    );
    this.#open.add(connection);
    connection.closed.then(() => {
      this.#open.delete(connection);
      this.#answers.drop(connection);
    });
  }

  /** Refuses the calls whose messages have not come since the last sweep. */
  sweep(): void {
    for (const { session } of this.#open)
      for (const { reader } of session.streams) if (reader instanceof FramedCall) reader.sweep();
  }

  /** Tells clients to go elsewhere. Resolves when their calls have ended. */
  close(): Promise<unknown> {
    for (const connection of this.#open) connection.drain();
    return Promise.all(Array.from(this.#open, ({ closed }) => closed));
  }
}

/** Answers the requests of one connection. */
function requestsOf(
  connection: Connection,
  answering: Answering,
  ofAll: KeptBytes<FramedCall>,
  peer: () => UnaryPeer,
) {
  const { maxMessageBytes, maxPartialBytes } = answering.limits;
  const limits: SharedLimits = { maxMessageBytes, maxPartialBytes, partialBytes: 0, ofAll };
  let lastHead: RequestHead | undefined;
  let lastRoute: Route = { refusal: UNKNOWN };
  return (stream: Stream, head: RequestHead | 'too long'): RequestReader | undefined => {
    if (head === 'too long') return void refuseStream(connection, stream, TOO_LONG);
    if (head !== lastHead) lastRoute = routeOf(head, answering, peer);
    lastHead = head;
    return begin(connection, stream, lastRoute, limits, answering);
  };
}

function begin(
  connection: Connection,
  stream: Stream,
  route: Route,
  limits: SharedLimits,
  { onError }: Answering,
): RequestReader | undefined {
  if ('method' in route)
    return new FramedCall(connection, stream, route.method, route.call, limits, onError);
  if ('answers' in route) return answerFramedParts(connection, stream, route.answers);
  if ('refusal' in route) refuseStream(connection, stream, route.refusal);
  else refuseHttp(connection, stream, route.httpStatus);
  return undefined;
}

function routeOf(head: RequestHead, { methods, streams }: Answering, peer: () => UnaryPeer): Route {
  const httpStatus = httpRefusal(head.method, head.value('content-type'));
  if (httpStatus !== undefined) return { httpStatus };
  const method = methods.get(head.path);
  const answers = streams.get(head.path);
  if (answers !== undefined) return { answers };
  if (method === undefined) return { refusal: UNKNOWN };
  const timeout = head.value('grpc-timeout');
  const timeoutMs = timeout === undefined ? undefined : readTimeout(timeout);
  if (typeof timeoutMs === 'object') return { refusal: timeoutMs };
  return { method, call: { metadata: name => head.values(name), timeoutMs, peer } };
}

function peerOf(socket: Duplex): UnaryPeer {
  const address = socket instanceof Socket ? (socket.remoteAddress ?? '') : '';
  const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  return { address, certificate };
}

/** Answers a request that is no gRPC call. */
function refuseHttp(connection: Connection, stream: Stream, httpStatus: 405 | 415): void {
  const allow = httpStatus === 405 ? ([['allow', 'POST']] as const) : [];
  connection.session.streams.sender.refuse(
    stream,
    encodeFields([[':status', String(httpStatus)], ...allow]),
  );
  connection.wrote();
}
