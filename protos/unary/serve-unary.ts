import type { RequestListener } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { listen } from '../listen.ts';
import { REFLECTION_SERVICES } from '../reflection.ts';
import type { Served } from '../serve.ts';
import type { TlsServerOptions } from '../tls.ts';
import { within } from '../within.ts';
import { answerCall, type OnError } from './answer-call.ts';
import { AwaitedMessages } from './awaited-messages.ts';
import { headerBytes, httpRefusal } from './check-headers.ts';
import { Connections, type KeepAlive, MAX_HEADER_BYTES, type OnStream } from './connections.ts';
import { HEALTH, healthCheck } from './health.ts';
import { failure, type UnaryMethod } from './method.ts';
import type { CallLimits } from './read-message.ts';
import { reflectionStreams } from './reflection-stream.ts';
import { refuse, refuseHttp } from './respond.ts';

export type ServeUnaryOptions = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly methods: readonly UnaryMethod[];
  /** Answers plain HTTP/1.1 on the same port; without it such requests get 404. */
  readonly http?: RequestListener;
  /** Hears of what a method threw; the caller gets INTERNAL. */
  readonly onError: OnError;
  readonly limits?: Partial<UnaryLimits>;
  /** Mutual TLS: then nothing on the port is answered in plain text. */
  readonly tls?: TlsServerOptions | undefined;
};

export type UnaryLimits = {
  readonly maxMessageBytes: number;
  /** For the messages of one connection that have come in part. */
  readonly maxPartialBytes: number;
  /** A message has come whole after this time, at the latest after twice as much, or its call is refused. */
  readonly messageMs: number;
  /** Of the port; each costs some 20 KiB, and more with TLS. Envoy has one for each of its workers. */
  readonly maxConnections: number;
  readonly keepAlive: KeepAlive;
};

const LIMITS: UnaryLimits = {
  maxMessageBytes: 4 * 1024 * 1024,
  maxPartialBytes: 16 * 1024 * 1024,
  messageMs: 10_000,
  maxConnections: 10_000,
  keepAlive: { everyMs: 30_000, timeoutMs: 10_000 },
};

const TOO_LONG = failure('RESOURCE_EXHAUSTED', `the headers have more than ${MAX_HEADER_BYTES} bytes`);
const UNKNOWN = failure('UNIMPLEMENTED', 'there is no such method here');

/**
 * What `serve` promises, for services whose methods are all unary, at about 0.6 of its CPU: it answers them on Node's HTTP/2 streams without a
 * layer between. Of health there is `Check` alone; reflection is whole. Rejects with the system's error when it cannot listen.
 * Source: gRPC over HTTP2.
 */
export async function serveUnary(options: ServeUnaryOptions): Promise<Served> {
  const limits = { ...LIMITS, ...options.limits };
  const services = [...new Set(options.methods.map(({ path }) => serviceOf(path)))];
  let serving = false;
  const health = healthCheck(new Set(services), () => serving);
  const methods = new Map([health, ...options.methods].map(method => [method.path, method]));
  const streams = reflectionStreams([...services, HEALTH, ...REFLECTION_SERVICES]);
  const awaited = new AwaitedMessages();
  const sweeping = setInterval(() => awaited.sweep(), limits.messageMs).unref();
  const onConnection = () => answerer({ methods, streams, limits, awaited, onError: options.onError });
  const connections = new Connections(onConnection, limits.keepAlive);
  const listening = await listen({
    host: options.host,
    port: options.port,
    tls: options.tls,
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

type Answering = {
  readonly methods: ReadonlyMap<string, UnaryMethod>;
  readonly streams: ReadonlyMap<string, (stream: ServerHttp2Stream) => void>;
  readonly limits: UnaryLimits;
  readonly awaited: AwaitedMessages;
  readonly onError: OnError;
};

/** Answers the streams of one connection. */
function answerer({ methods, streams, limits, awaited, onError }: Answering): OnStream {
  const { maxMessageBytes, maxPartialBytes } = limits;
  const shared: CallLimits = { maxMessageBytes, maxPartialBytes, awaited, partialBytes: 0 };
  return (stream, headers, raw) => {
    if (headerBytes(raw) > MAX_HEADER_BYTES) return refuse(stream, TOO_LONG);
    const httpStatus = httpRefusal(headers);
    const path = headers[':path'] ?? '';
    const method = methods.get(path);
    if (httpStatus !== undefined) refuseHttp(stream, httpStatus);
    else if (method !== undefined) answerCall(stream, headers, method, shared, onError);
    else (streams.get(path) ?? refuseUnknown)(stream);
  };
}

function refuseUnknown(stream: ServerHttp2Stream): void {
  refuse(stream, UNKNOWN);
}

/** Of `/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit` what is between the slashes. */
function serviceOf(path: string): string {
  return path.slice(1, path.lastIndexOf('/'));
}
