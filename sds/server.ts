import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import { cutText } from '#grpc/cut-text.ts';
import { serve } from '#grpc/serve.ts';
import type { TlsServerOptions } from '#grpc/tls.ts';
import type { UnaryMethod } from '#grpc/unary/method.ts';
import { grpcJsServices } from '#grpc/unary/serve-on-grpc-js.ts';
import type { After } from '#process/after.ts';
import { failureLog, refusalLog } from '#process/refusal-log.ts';
import type { Report } from '#process/reporter.ts';
import { DISCOVERY } from '#xds/discovery-methods.ts';
import type { DiscoveryObserver } from '#xds/discovery-observer.ts';
import { createDiscovery } from './discovery.ts';
import { type HttpSources, httpApp, monitoringApp } from './http/http-app.ts';
import type { Instances } from './instances/instance.ts';
import { instanceChanges } from './instances/instance-changes.ts';
import type { InstanceSource } from './instances/instance-source.ts';
import { instancesSnapshot } from './instances/instances-snapshot.ts';
import { type MissedName, missedNames } from './instances/missed-names.ts';
import type { Metrics } from './metrics.ts';
import type { Secrets } from './secrets/secrets.ts';
import { statusOf } from './status.ts';

export type ServerOptions = {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  /** Undefined when no instances are served. */
  readonly source: InstanceSource | undefined;
  /** Returns what `/status` says of where the instances come from. */
  sourcesStatus?(): object;
  /** Returns why the instances may not be known yet. Default: nothing says why. */
  whyNotKnown?(): readonly string[];
  /** Undefined when no secrets are served. */
  readonly secrets?: Secrets | undefined;
  /** What operators are told. Default: nothing. */
  readonly knowledge?: readonly UnaryMethod[];
  /** Hears when names that clients miss may have changed, and how they are found. */
  onMissed?: Report;
  /** Mutual TLS. Without it all is plain. */
  readonly tls?: TlsServerOptions | undefined;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  now(): number;
  readonly after: After;
};

export type Server = {
  readonly address: string;
  readonly port: number;
  /** Answers probes and monitoring in plain HTTP. */
  readonly http: RequestListener;
  /** Ends the source and the server. Requests in flight have `graceMs` to end. */
  stop(graceMs: number): Promise<void>;
};

/**
 * Serves the instances of the source and the secrets on one port. Their discovery runs over gRPC,
 * state of the world and delta, aggregated or not. All of httpApp runs over HTTP/1.1. Until the
 * source has answered, streams of instances wait and gRPC health is NOT_SERVING.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { host, port, source, secrets, tls, metrics, log, now, after } = options;
  let instances: Instances | undefined = source === undefined ? new Map() : undefined;
  const warn = refusalLog(log, now);
  const discovery = createDiscovery({
    withInstances: source !== undefined,
    secrets,
    observer: observerOf(metrics, log, now),
    onRejected: (address, reason) => warn({ address, reason }, 'no secrets for this client'),
    now,
    after,
  });
  const logMissed = logOfMissed(log, now);
  const missed = missedNames(found => {
    logMissed(found);
    options.onMissed?.(missed.findings);
  });
  const sources: HttpSources = {
    instances: () => instances,
    whyNotKnown: () => options.whyNotKnown?.() ?? [],
    status: () => ({
      sources: options.sourcesStatus?.(),
      ...missedStatus(missed.names()),
      ...statusOf(instances ?? new Map(), discovery.instances() ?? new Map(), discovery.streams()),
      ...(secrets && { secrets: secrets.status() }),
    }),
    answer: async (hostname, token) => await secrets?.answer(hostname, token),
    onAnswered(request) {
      metrics.httpAnswered(request.status);
      log.debug({ ...request, path: cutText(request.path, MOST_CHARACTERS) }, 'request');
    },
    onError: err => log.error({ err }, 'an HTTP request failed'),
    metrics: metrics.registry,
  };
  const http = httpApp(sources);
  const onError = (err: unknown) => log.error({ err }, 'a request failed');
  const told = grpcJsServices(options.knowledge ?? [], onError);
  const services = { ...discovery.services, ...told.services };
  const definitions = { ...DISCOVERY.definitions, ...told.definitions };
  const served = await serve({ ...DISCOVERY, host, port, services, definitions, http, tls });
  served.setServing(source === undefined);
  const endWatch = source?.watch(next => {
    const before = instances ?? new Map();
    instances = next;
    missed.served(next);
    options.onMissed?.(missed.findings);
    discovery.setInstances(instancesSnapshot(next, missed.asked, discovery.instances()));
    served.setServing(true);
    metrics.served(next);
    for (const change of instanceChanges(before, next)) log.info(change, 'instances changed');
  });
  const stop = (graceMs: number) => {
    endWatch?.();
    return served.stop(graceMs);
  };
  return { address: served.address, port: served.port, http: monitoringApp(sources), stop };
}

const NO_SUCH_SERVICE =
  'no service of this name is known, so clients that ask for it get no instances';
const NO_SUCH_PORT = 'the service has no such port, so clients that ask for it get no instances';

/** One request can name as many services as fit into it. */
function logOfMissed(log: Logger, now: () => number) {
  const warn = refusalLog(log, now, 1_000, MOST_NAMES);
  return ({ meant, name, ports }: MissedName) => {
    const asked = cutText(name, MOST_CHARACTERS);
    if (ports === undefined) warn({ asked, meant }, NO_SUCH_SERVICE);
    else warn({ asked, ports: ports.slice(0, MOST_NAMES) }, NO_SUCH_PORT);
  };
}

function missedStatus(missed: readonly MissedName[]) {
  const names = (all: readonly MissedName[]) => all.map(({ name }) => name);
  return {
    missed_ports: names(missed.filter(({ ports }) => ports !== undefined)),
    unknown_names: names(missed.filter(({ ports }) => ports === undefined)),
  };
}

/** The most names of clients' requests that are logged, at once or in a second. */
const MOST_NAMES = 20;
const MOST_CHARACTERS = 200;

function observerOf(metrics: Metrics, log: Logger, now: () => number): DiscoveryObserver {
  const logFailure = failureLog(log, now);
  return {
    failed: (stream, err) =>
      logFailure(
        { err, node: stream?.node, address: stream?.address },
        'an internal error ended a stream',
      ),
    connected({ node, address, variant }) {
      metrics.clientConnected();
      log.info({ node, address, variant }, 'client connected');
    },
    disconnected({ node, address }) {
      metrics.clientDisconnected();
      log.info({ node, address }, 'client disconnected');
    },
    acked: () => metrics.acked(),
    nacked({ node }, { names, message }) {
      metrics.nacked();
      const first = names.slice(0, MOST_NAMES).map(name => cutText(name, MOST_CHARACTERS));
      const fields = { node, names: first, of: names.length, reason: message };
      log.error(fields, 'client rejected what it was sent');
    },
  };
}
