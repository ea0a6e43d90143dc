import type { Logger } from 'pino';
import type { UnaryMethod } from '#grpc/unary/method.ts';
import type { serveUnary } from '#grpc/unary/serve-unary.ts';
import {
  type DecisionServer,
  type ListenAt,
  openDecisionServer,
} from '#process/decision-server.ts';
import { tracedMethod } from '#process/traces/traced-method.ts';
import type { Traces } from '#process/traces/traces.ts';
import { groupProbes, type Worker } from '#process/worker.ts';
import { Answerer } from './answerer.ts';
import type { CounterOwners } from './counter-owner.ts';
import type { CounterStore } from './counter-store.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeResponse } from './encode-response.ts';
import { httpApp } from './http-app.ts';
import { decideJson } from './json-endpoint.ts';
import { LimitSet } from './limit-set.ts';
import { listCounters } from './list-counters.ts';
import { createMetrics } from './metrics.ts';
import type { RateLimitRequest } from './request.ts';
import type { RateLimitResponse } from './wire.ts';

export type ServerOptions = {
  readonly store: CounterStore;
  /** What keeps counters. */
  readonly kind?: 'memory' | 'redis';
  readonly log: Logger;
  /**
   * The time in which the store answers or fails. Proxies that wait for less than twice that get
   * their answer sooner. Undefined when no such time is known.
   */
  readonly storeTimeoutMs?: number;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never go back. */
  uptime(): number;
  /** Hears which limits are in force. */
  owned?(owners: CounterOwners): void;
  /** The group of worker processes that this process belongs to. */
  readonly worker?: Worker | undefined;
  /** Undefined when decisions are not traced. */
  readonly traces?: Traces | undefined;
  /** Default: `serveUnary`. The alternative is `serveOnGrpcJs`. */
  readonly serve?: typeof serveUnary;
};

/** Also resets counters. */
export type LimitServer = DecisionServer & Pick<Answerer, 'reset'>;

export type Server = DecisionServer & { readonly address: string; readonly port: number };

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
const REQUEST_ID = 'x-gateway-request-id';

/**
 * Serves `RateLimitService.ShouldRateLimit` over gRPC and all of httpApp over HTTP/1.1. Until it
 * has its limits, gRPC health is NOT_SERVING and requests get UNAVAILABLE. Then the proxies'
 * `failure_mode_deny` decides.
 */
export function openServer({
  store,
  log,
  now,
  uptime,
  worker,
  kind = 'memory',
  storeTimeoutMs = Number.POSITIVE_INFINITY,
  owned,
  serve,
  traces,
}: ServerOptions): LimitServer {
  const metrics = createMetrics(() => store.status());
  const answerer = new Answerer({ store, metrics, log, now, uptime, traces });
  const onError = (err: unknown) => log.error({ err }, 'a request failed');
  const own = { notReady: () => answerer.notReady, registry: metrics.registry };
  const sources = { ...groupProbes(own, worker), onError };
  const limits = new LimitSet();
  const server = openDecisionServer({
    methods: [
      tracedMethod(shouldRateLimit(answerer, storeTimeoutMs), traces),
      listCounters((most, now) => answerer.counters(most, now), { store: kind, worker }),
    ],
    http: httpApp({
      ...sources,
      decide: body => decideJson(body, request => answerer.answer(request, '')),
    }),
    probes: httpApp(sources),
    what: 'limits',
    log,
    take: change => limits.update(change),
    use: compiled => {
      answerer.use(compiled);
      owned?.(compiled.owners);
    },
    serve,
  });
  return { ...server, reset: (domain, labels) => answerer.reset(domain, labels) };
}

/** Opens the server, and listens at once. */
export async function startServer(options: ServerOptions & ListenAt): Promise<Server> {
  const server = openServer(options);
  return { ...server, ...(await server.listen(options)) };
}

/**
 * Gives the store half of the time that the proxy waits, so that its `failure_mode_deny` decides in
 * time.
 */
function shouldRateLimit(
  answerer: Answerer,
  storeTimeoutMs: number,
): UnaryMethod<RateLimitRequest, RateLimitResponse> {
  return {
    path: PATH,
    decode: decodeRequest,
    encode: encodeResponse,
    handle: (request, call) => {
      const half = (call.timeoutMs ?? Number.POSITIVE_INFINITY) / 2;
      const storeMs = half < storeTimeoutMs ? half : undefined;
      return answerer.answer(request, call.metadata(REQUEST_ID), storeMs);
    },
  };
}
