import type { RequestListener } from 'node:http';
import type { ConnectionSource } from '#grpc/connection-source.ts';
import { listen } from '#grpc/listen.ts';
import { REFLECTION_SERVICES } from '#grpc/reflection.ts';
import type { Served } from '#grpc/serve.ts';
import { thirdOfHeap } from '#grpc/third-of-heap.ts';
import type { TlsServerOptions } from '#grpc/tls.ts';
import { within } from '#grpc/within.ts';
import type { OnError } from './answer-message.ts';
import type { UnaryLimits } from './answering.ts';
import { FramedConnections } from './framed-connections.ts';
import { HEALTH, healthCheck } from './health.ts';
import type { UnaryMethod } from './method.ts';
import { reflectionMethods } from './reflection-stream.ts';

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
};

const LIMITS: UnaryLimits = {
  maxMessageBytes: 4 * 1024 * 1024,
  maxPartialBytes: 16 * 1024 * 1024,
  maxKeptBytes: thirdOfHeap(),
  messageMs: 10_000,
  maxConnections: 10_000,
  keepAlive: { everyMs: 30_000, timeoutMs: 10_000 },
  // An overloaded service is slow, and a proxy then resets each call that takes too long, perhaps
  // all of them. It must not lose its connection then. A reset costs us no more than a call.
  resets: { burst: 10_000, perSecond: 10_000 },
};

/**
 * Does what `serve` promises, for services whose methods are all unary. On our own HTTP/2 framing
 * it takes 0.1 to 0.3 of the CPU of `serve`. Of health there is `Check` alone. Reflection is whole.
 * Rejects with the system's error when it cannot listen. Source: gRPC over HTTP2.
 */
export async function serveUnary(options: ServeUnaryOptions): Promise<Served> {
  const limits = { ...LIMITS, ...options.limits };
  const services = [...new Set(options.methods.map(({ path }) => serviceOf(path)))];
  let serving = false;
  const health = healthCheck(new Set(services), () => serving);
  const methods = new Map([health, ...options.methods].map(method => [method.path, method]));
  const streams = reflectionMethods([...services, HEALTH, ...REFLECTION_SERVICES]);
  const { onError } = options;
  const connections = new FramedConnections({ methods, streams, limits, onError });
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

/**
 * Returns what is between the slashes of
 * `/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit`.
 */
function serviceOf(path: string): string {
  return path.slice(1, path.lastIndexOf('/'));
}
