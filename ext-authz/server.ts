import type { Logger } from 'pino';
import { FilterFeeds } from '#ext-authz/filters/filter-feeds.ts';
import type { FilterKit } from '#ext-authz/filters/filter-kit.ts';
import type { serveUnary } from '#grpc/unary/serve-unary.ts';
import {
  type DecisionServer,
  type ListenAt,
  openDecisionServer,
} from '#process/decision-server.ts';
import { tracedMethod } from '#process/traces/traced-method.ts';
import type { Traces } from '#process/traces/traces.ts';
import { groupProbes, type Worker } from '#process/worker.ts';
import { checkMethod } from './check-method.ts';
import { Checker } from './checker.ts';
import { httpApp } from './http-app.ts';
import { knowledgeMethods } from './knowledge.ts';
import { createMetrics } from './metrics.ts';

export type ServerOptions = {
  readonly kit: FilterKit;
  /** What keeps sessions. */
  readonly store?: 'file' | 'redis';
  readonly log: Logger;
  /** Milliseconds of a clock that never goes back. */
  uptime(): number;
  after(ms: number, run: () => void): () => void;
  /** This worker of the group of processes, if there is a group. */
  readonly worker?: Worker | undefined;
  /** Undefined when checks are not traced. */
  readonly traces?: Traces | undefined;
  /** By default `serveUnary`. The alternative is `serveOnGrpcJs`. */
  readonly serve?: typeof serveUnary;
};

export type Server = DecisionServer & { readonly address: string; readonly port: number };

/**
 * Opens a server for `Authorization.Check` over gRPC, and for all of httpApp over HTTP/1.1. Until
 * it has its Filters and FilterPolicies, gRPC health is NOT_SERVING and checks get UNAVAILABLE,
 * which is 503 for the client.
 */
export function openServer({
  after,
  kit,
  log,
  serve,
  store = 'file',
  traces,
  uptime,
  worker,
}: ServerOptions): DecisionServer {
  const metrics = createMetrics();
  const checker = new Checker({ kit, metrics, log, uptime, after, traces });
  const own = { notReady: () => checker.notReady, registry: metrics.registry };
  const onError = (err: unknown) => log.error({ err }, 'a request failed');
  const http = httpApp({ ...groupProbes(own, worker), onError });
  const filters = new FilterFeeds();
  return openDecisionServer({
    methods: [tracedMethod(checkMethod(checker), traces), ...knowledgeMethods(kit, store)],
    http,
    probes: http,
    what: 'filters',
    log,
    take: (change, from) => filters.update(from, change),
    turned: (from, state) => filters.turned(from, state),
    use: configuration => checker.use(configuration),
    serve,
  });
}

/** Opens a server and listens at once. */
export async function startServer(options: ServerOptions & ListenAt): Promise<Server> {
  const server = openServer(options);
  return { ...server, ...(await server.listen(options)) };
}
