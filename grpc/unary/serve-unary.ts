import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionSource } from '#grpc/connection-source.ts';
import { listen } from '#grpc/listen.ts';
import { REFLECTION_SERVICES } from '#grpc/reflection.ts';
import type { Served } from '#grpc/serve.ts';
import type { TlsServerOptions } from '#grpc/tls.ts';
import { within } from '#grpc/within.ts';
import { answerCall } from './answer-call.ts';
import type { OnError } from './answer-message.ts';
import type { Answering, UnaryLimits } from './answering.ts';
import { AwaitedMessages } from './awaited-messages.ts';
import { headerBytes, httpRefusal, TOO_LONG, UNKNOWN } from './check-headers.ts';
import { Connections, MAX_HEADER_BYTES, type OnStream } from './connections.ts';
import { FramedConnections } from './framed-connections.ts';
import { HEALTH, healthCheck } from './health.ts';
import type { UnaryMethod } from './method.ts';
import type { CallLimits } from './read-message.ts';
import { answerParts, reflectionMethods } from './reflection-stream.ts';
import { refuse, refuseHttp } from './respond.ts';

export type ServeUnaryOptions = {
  readonly host: string;
  /** 0 is any free port. */
  readonly port: number;
  readonly methods: readonly UnaryMethod[];
  /** Answers plain HTTP/1.1 on the same port. Without it such requests get 404. */
  readonly http?: RequestListener;
  /** Hears of what a method threw. The caller gets INTERNAL. */
  readonly onError: OnError;
  readonly limits?: Partial<UnaryLimits>;
  /** Mutual TLS. With it, no plain text is answered on the port. */
  readonly tls?: TlsServerOptions | undefined;
  /** Accepts connections in place of the server itself. */
  readonly source?: ConnectionSource | undefined;
  /** The HTTP/2 implementation: Node's library, or ours in grpc/http2/, which is the default. */
  readonly transport?: 'node' | 'framed';
};

const LIMITS: UnaryLimits = {
  maxMessageBytes: 4 * 1024 * 1024,
  maxPartialBytes: 16 * 1024 * 1024,
  messageMs: 10_000,
  maxConnections: 10_000,
  keepAlive: { everyMs: 30_000, timeoutMs: 10_000 },
  // An overloaded service is slow, and a proxy then resets each call that takes too long, perhaps
  // all of them. It must not lose its connection then. A reset costs us no more than a call.
  resets: { burst: 10_000, perSecond: 10_000 },
};

/**
 * Does what `serve` promises, for services whose methods are all unary. It takes 0.1 to 0.3 of the
 * CPU of `serve` on our own HTTP/2 framing, and about 0.6 on Node's streams. Of health there is
 * `Check` alone. Reflection is whole. Rejects with the system's error when it cannot listen.
 * Source: gRPC over HTTP2.
 */
export async function serveUnary(options: ServeUnaryOptions): Promise<Served> {
  const limits = { ...LIMITS, ...options.limits };
  const services = [...new Set(options.methods.map(({ path }) => serviceOf(path)))];
  let serving = false;
  const health = healthCheck(new Set(services), () => serving);
  const methods = new Map([health, ...options.methods].map(method => [method.path, method]));
  const streams = reflectionMethods([...services, HEALTH, ...REFLECTION_SERVICES]);
  const connections = openTransport(options.transport ?? 'framed', {
    methods,
    streams,
    limits,
    onError: options.onError,
  });
  const sweeping = setInterval(() => connections.sweep(), limits.messageMs).unref();
  const listening = await listen({
    host: options.host,
    port: options.port,
    tls: options.tls,
    source: options.source,
    maxConnections: limits.maxConnections,
    protocols: {
      http2: socket => connections.accept(socket),
      http1: options.http ?? ((_request, response) => void response.writeHead(404).end()),
    },
  });
  const stop = async (graceMs: number) => {
    serving = false;
    const closed = listening.close();
    await within(graceMs, Promise.all([closed, connections.close()]));
    listening.destroy();
    await closed;
    clearInterval(sweeping);
  };
  const setServing = (now: boolean) => {
    serving = now;
  };
  return { address: listening.address, port: listening.port, setServing, stop };
}

/** The HTTP/2 connections of a server, of either implementation. */
type Transport = {
  /** Takes a connection that another server accepted. */
  accept(socket: Socket): void;
  /** Refuses the calls whose messages have not come since the last sweep. */
  sweep(): void;
  /** Tells clients to go elsewhere. Resolves when their calls have ended. */
  close(): Promise<unknown>;
};

function openTransport(kind: 'node' | 'framed', answering: Answering): Transport {
  if (kind === 'framed') return new FramedConnections(answering);
  const awaited = new AwaitedMessages();
  const connections = new Connections(() => answerer(answering, awaited), answering.limits);
  return {
    accept: socket => connections.accept(socket),
    sweep: () => awaited.sweep(),
    close: () => connections.close(),
  };
}

/** Answers the streams of one connection. */
function answerer(
  { methods, streams, limits, onError }: Answering,
  awaited: AwaitedMessages,
): OnStream {
  const { maxMessageBytes, maxPartialBytes } = limits;
  const shared: CallLimits = { maxMessageBytes, maxPartialBytes, awaited, partialBytes: 0 };
  return (stream, headers, raw) => {
    if (headerBytes(raw) > MAX_HEADER_BYTES) return refuse(stream, TOO_LONG);
    const httpStatus = httpRefusal(headers[':method'], headers['content-type']);
    const path = headers[':path'] ?? '';
    const method = methods.get(path);
    if (httpStatus !== undefined) return refuseHttp(stream, httpStatus);
    if (method !== undefined) return answerCall(stream, headers, method, shared, onError);
    const answers = streams.get(path);
    if (answers === undefined) refuse(stream, UNKNOWN);
    else answerParts(stream, answers);
  };
}

/**
 * Returns what is between the slashes of
 * `/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit`.
 */
function serviceOf(path: string): string {
  return path.slice(1, path.lastIndexOf('/'));
}
