import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import type { TlsServerOptions } from '#protos/tls.ts';
import { serveUnary } from '#protos/unary/serve-unary.ts';
import type { Update } from '#xds/client-subscription.ts';
import { checkMethod } from './check-method.ts';
import { Checker } from './checker.ts';
import type { FilterKit } from './filter-kit.ts';
import { FilterSet } from './filter-set.ts';
import { httpApp } from './http-app.ts';
import { createMetrics } from './metrics.ts';

export type ServerOptions = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly kit: FilterKit;
  readonly log: Logger;
  /** Mutual TLS: then the port speaks nothing else. */
  readonly tls?: TlsServerOptions | undefined;
  /** Milliseconds that never go back. */
  uptime(): number;
  after(ms: number, run: () => void): () => void;
  /** By default `serveUnary`; `serveOnGrpcJs` is the other. */
  readonly serve?: typeof serveUnary;
};

export type Server = {
  readonly address: string;
  readonly port: number;
  /** What probes and monitoring ask for, to be answered on another port besides. */
  readonly http: RequestListener;
  /** Takes what the control plane says of Filters and FilterPolicies, and answers it. */
  update(update: Update): void;
  /** Resolves when the first of both are in force, or it is known that there are none. */
  readonly serving: Promise<void>;
  /** What is in flight may end for `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

/**
 * Serves checks on one port: `Authorization.Check` over gRPC, and all of httpApp over HTTP/1.1. Until it has its Filters and FilterPolicies, gRPC
 * health is NOT_SERVING and checks get UNAVAILABLE, which is 503 for the client.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { host, port, kit, log, uptime, after, tls, serve = serveUnary } = options;
  const metrics = createMetrics();
  const checker = new Checker({ kit, metrics, log, uptime, after });
  const http = httpApp({ notReady: () => checker.notReady, metrics: metrics.registry });
  const onError = (err: unknown) => log.error({ err }, 'a request failed');
  const served = await serve({ host, port, methods: [checkMethod(checker)], http, onError, tls });
  const filters = new FilterSet();
  const { promise: serving, resolve: begin } = Promise.withResolvers<void>();
  const update = (change: Update) => {
    const configuration = filters.update(change);
    if ('error' in configuration) {
      log.error({ reason: configuration.error }, 'filters refused, the earlier ones stay');
      return change.nack(configuration.error);
    }
    if (configuration.value !== undefined) {
      checker.use(configuration.value);
      served.setServing(true);
      begin();
    }
    change.ack();
  };
  return { address: served.address, port: served.port, http, update, serving, stop: ms => served.stop(ms) };
}
