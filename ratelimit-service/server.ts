import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import type { TlsServerOptions } from '#protos/tls.ts';
import type { UnaryMethod } from '#protos/unary/method.ts';
import { serveUnary } from '#protos/unary/serve-unary.ts';
import type { Update } from '#xds/client-subscription.ts';
import { Answerer, type Failed } from './answerer.ts';
import type { CounterStore } from './counter-store.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeResponse } from './encode-response.ts';
import { httpApp } from './http-app.ts';
import { decideJson } from './json-endpoint.ts';
import { LimitSet } from './limit-set.ts';
import { createMetrics } from './metrics.ts';
import type { RateLimitRequest } from './request.ts';
import type { RateLimitResponse } from './wire.ts';

export type ServerOptions = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly store: CounterStore;
  readonly log: Logger;
  /** In which the store answers or fails; proxies that wait for less than twice that are answered sooner. Undefined: no such time is known. */
  readonly storeTimeoutMs?: number;
  /** Mutual TLS: then the port speaks nothing else. */
  readonly tls?: TlsServerOptions | undefined;
  /** Milliseconds that never go back. */
  uptime(): number;
  /** By default `serveUnary`; `serveOnGrpcJs` is the other. */
  readonly serve?: typeof serveUnary;
};

export type Server = {
  readonly address: string;
  readonly port: number;
  /** What probes and monitoring ask for, to be answered on another port besides. */
  readonly http: RequestListener;
  /** Takes what the control plane says of the limits, and answers it. */
  update(update: Update): void;
  /** Resolves when the first limits are in force, or it is known that there are none. */
  readonly serving: Promise<void>;
  /** What is in flight may end for `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
const REQUEST_ID = 'x-gateway-request-id';

/**
 * Serves decisions on one port: `RateLimitService.ShouldRateLimit` over gRPC, and all of httpApp over HTTP/1.1. Until it has its limits,
 * gRPC health is NOT_SERVING and requests get UNAVAILABLE, so that the proxies' `failure_mode_deny` decides.
 */
export async function startServer({
  host,
  port,
  store,
  log,
  uptime,
  tls,
  storeTimeoutMs = Number.POSITIVE_INFINITY,
  serve = serveUnary,
}: ServerOptions): Promise<Server> {
  const metrics = createMetrics(() => store.status());
  const answerer = new Answerer({ store, metrics, log, uptime });
  const onError = (err: unknown) => log.error({ err }, 'a request failed');
  const sources = { notReady: () => answerer.notReady, onError, metrics: metrics.registry };
  const probes = httpApp(sources);
  const http = httpApp({
    ...sources,
    decide: body => decideJson(body, request => answerer.answer(request, '')),
  });
  const served = await serve({
    host,
    port,
    methods: [shouldRateLimit(answerer, storeTimeoutMs)],
    http,
    onError,
    tls,
  });
  const limits = new LimitSet();
  const { promise: serving, resolve: begin } = Promise.withResolvers<void>();
  const update = (change: Update) => {
    const compiled = limits.update(change);
    if ('error' in compiled) {
      log.error({ reason: compiled.error }, 'limits refused, the earlier ones stay');
      return change.nack(compiled.error);
    }
    if (compiled.value !== undefined) {
      answerer.use(compiled.value);
      served.setServing(true);
      begin();
    }
    change.ack();
  };
  return {
    address: served.address,
    port: served.port,
    http: probes,
    update,
    serving,
    stop: ms => served.stop(ms),
  };
}

function shouldRateLimit(
  answerer: Answerer,
  storeTimeoutMs: number,
): UnaryMethod<RateLimitRequest, RateLimitResponse> {
  return {
    path: PATH,
    decode: decodeRequest,
    encode: encodeResponse,
    handle: (request, call) => {
      const answer = answerer.answer(request, call.metadata(REQUEST_ID));
      const half = (call.timeoutMs ?? Number.POSITIVE_INFINITY) / 2;
      return answer instanceof Promise && half < storeTimeoutMs ? inTime(half, answer) : answer;
    },
  };
}

type Answer = RateLimitResponse | Failed;

const LATE: Failed = {
  failed: 'UNAVAILABLE',
  message: 'the counter store did not answer in half of the time',
};

/** In half of the time that the proxy waits, so that its `failure_mode_deny` decides in time. */
function inTime(ms: number, answer: Promise<Answer>): Promise<Answer> {
  const { promise: late, resolve } = Promise.withResolvers<Answer>();
  const timer = setTimeout(resolve, ms, LATE);
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
