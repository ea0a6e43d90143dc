import { type handleUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import type { Logger } from 'pino';
import { serve } from '#protos/serve.ts';
import type { Update } from '#xds/client-subscription.ts';
import { Answerer, type Failed } from './answerer.ts';
import type { CounterStore } from './counter-store.ts';
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
  /** Milliseconds that never go back. */
  uptime(): number;
};

export type Server = {
  readonly address: string;
  readonly port: number;
  /** Takes what the control plane says of the limits, and answers it. */
  update(update: Update): void;
  /** Resolves when the first limits are in force, or it is known that there are none. */
  readonly serving: Promise<void>;
  /** What is in flight may end for `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

const SERVICE = 'envoy.service.ratelimit.v3.RateLimitService';
const REQUEST_ID = 'x-gateway-request-id';

/**
 * Serves decisions on one port: `RateLimitService.ShouldRateLimit` over gRPC, and all of httpApp over HTTP/1.1. Until it has its limits,
 * gRPC health is NOT_SERVING and requests get UNAVAILABLE, so that the proxies' `failure_mode_deny` decides.
 */
export async function startServer({ host, port, store, log, uptime }: ServerOptions): Promise<Server> {
  const metrics = createMetrics(() => store.status());
  const answerer = new Answerer({ store, metrics, log, uptime });
  const http = httpApp({
    decide: body => decideJson(body, request => answerer.answer(request, '')),
    notReady: () => answerer.notReady,
    onError: err => log.error({ err }, 'an HTTP request failed'),
    metrics: metrics.registry,
  });
  const services = { [SERVICE]: { ShouldRateLimit: shouldRateLimit(answerer) } };
  const served = await serve({ host, port, services, http });
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
  return { address: served.address, port: served.port, update, serving, stop: ms => served.stop(ms) };
}

function shouldRateLimit(answerer: Answerer): handleUnaryCall<RateLimitRequest, RateLimitResponse> {
  return (call, reply) => {
    const [id = ''] = call.metadata.get(REQUEST_ID);
    const answer = answerer.answer(call.request, String(id));
    if (answer instanceof Promise) void answer.then(late => send(late, reply));
    else send(answer, reply);
  };
}

function send(answer: RateLimitResponse | Failed, reply: sendUnaryData<RateLimitResponse>): void {
  if ('failed' in answer) reply({ code: status[answer.failed], details: answer.message });
  else reply(null, answer);
}
