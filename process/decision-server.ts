import type { RequestListener } from 'node:http';
import type { ConnectionSource } from '#grpc/connection-source.ts';
import type { Served } from '#grpc/serve.ts';
import type { TlsServerOptions } from '#grpc/tls.ts';
import type { UnaryMethod } from '#grpc/unary/method.ts';
import { serveUnary } from '#grpc/unary/serve-unary.ts';
import type { Update } from '#xds/client-subscription.ts';
import { FOLLOWED, type Turned } from './followed.ts';

/** Where the server listens for requests for decisions. */
export type ListenAt = {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  /** Mutual TLS. The port then speaks nothing else. */
  readonly tls?: TlsServerOptions | undefined;
  /** What accepts connections in place of the server itself. */
  readonly source?: ConnectionSource | undefined;
};

/** A service that decides by what the control plane sends. */
export type DecisionServer = {
  /** Answers probes and monitoring on a further port. */
  readonly http: RequestListener;
  /**
   * Accepts or rejects what a control plane sends, and tells it which. `from` stands for one of
   * several. Default: FOLLOWED.
   */
  update(update: Update, from?: object): void;
  /** Undefined where only one control plane can be followed. */
  readonly turned?: Turned | undefined;
  /** Resolves when the first configuration is in force, or it is known that there is none. */
  readonly serving: Promise<void>;
  /**
   * Listens. Rejects with the system's error when it cannot. Until something is in force, gRPC
   * health is NOT_SERVING.
   */
  listen(at: ListenAt): Promise<{ readonly address: string; readonly port: number }>;
  /** Stops. Calls in flight may end within `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

export type DecisionServerParts<C> = {
  readonly methods: readonly UnaryMethod[];
  /** Plain HTTP on the port itself. */
  readonly http: RequestListener;
  /** Plain HTTP on another port. */
  readonly probes: RequestListener;
  /** What the configuration consists of, as the log calls it. */
  readonly what: 'filters' | 'limits';
  readonly log: { error(fields: object, message: string): void };
  /**
   * Accepts a change as a whole or rejects it as a whole. Without a value there is more to come.
   */
  take(
    change: Update,
    from: object,
  ): { readonly value: C | undefined } | { readonly error: string };
  /** Returns what is in force when a control plane is connected, or no longer. */
  turned?(...given: Parameters<Turned>): C | undefined;
  /** Puts this configuration in force. */
  use(configuration: C): void;
  /** By default `serveUnary`. The alternative is `serveOnGrpcJs`. */
  readonly serve?: typeof serveUnary | undefined;
};

export function openDecisionServer<C>({
  http,
  log,
  methods,
  probes,
  serve = serveUnary,
  take,
  turned,
  use,
  what,
}: DecisionServerParts<C>): DecisionServer {
  let served: Served | undefined;
  let inForce = false;
  const { promise: serving, resolve: begin } = Promise.withResolvers<void>();
  const onError = (err: unknown) => log.error({ err }, 'a request failed');
  return {
    http: probes,
    serving,
    turned:
      turned &&
      ((from, state) => {
        const now = turned(from, state);
        if (now !== undefined) use(now);
      }),
    update: (change, from = FOLLOWED) => {
      const taken = take(change, from);
      if ('error' in taken) {
        log.error({ reason: taken.error }, `${what} rejected, the last good ones stay in force`);
        return change.nack(taken.error);
      }
      if (taken.value !== undefined) {
        use(taken.value);
        inForce = true;
        served?.setServing(true);
        begin();
      }
      change.ack();
    },
    listen: async ({ host, port, source, tls }) => {
      served = await serve({ host, port, methods, http, onError, source, tls });
      served.setServing(inForce);
      return { address: served.address, port: served.port };
    },
    stop: async graceMs => served?.stop(graceMs),
  };
}
