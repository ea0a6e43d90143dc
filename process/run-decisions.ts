import type { Logger } from 'pino';
import type { HostPort } from '#grpc/host-port.ts';
import { isGatewayGroup } from '#resources/words/gateway-group.ts';
import type { DecisionConfig } from './decision-config.ts';
import type { DecisionServer } from './decision-server.ts';
import { orExit } from './exit.ts';
import { followControlPlane } from './follow-control-plane.ts';
import { type MutualTls, openMutualTls } from './mutual-tls.ts';
import type { OrderTaker } from './orders.ts';
import { type PlainHttp, servePlainHttp } from './plain-http.ts';
import type { ReportedFinding } from './report.ts';
import type { Report } from './reporter.ts';
import { onStop } from './run-service.ts';
import type { WorkParts } from './run-workers.ts';

export type DecisionService = WorkParts<DecisionConfig> & {
  /** The group that the control plane sends configuration to. */
  readonly group: string;
  readonly typeUrls: readonly string[];
  /** What the configuration consists of, as the log calls it. */
  readonly what: 'filters' | 'limits';
  readonly server: DecisionServer;
  /** Does what operators order. Undefined when another process of the service does. */
  readonly orders: OrderTaker | undefined;
  /**
   * Control planes that are told what is wrong with what was sent, besides the one that is
   * followed. When absent, the service reports nothing.
   */
  readonly reports?: {
    readonly to: readonly HostPort[];
    /** Receives the function to report with. */
    begin(report: Report): void;
  };
  readonly store: { readonly kind: string; close(): Promise<void> };
};

/** Proxies that clients reach ask for decisions. The control plane asks what is known. */
function isClient(group: string): boolean {
  return group === 'edge' || group === 'controlplane' || isGatewayGroup(group);
}

/** Requests take milliseconds, unless they wait for others. */
const STOP_GRACE_MS = 500;

/**
 * Runs a service until it is asked to stop. It follows the control plane and listens. It tells the
 * process that started it when it listens and when it is ready. When asked to stop, it ends within
 * a second and exits 0. A second signal ends the process at once.
 */
export async function runDecisions(service: DecisionService): Promise<void> {
  const { config, exit, log, server, store, worker } = service;
  const tls = await openTls(service);
  const following = followControlPlane({
    ...service,
    xds: config.xds,
    tls,
    onUpdate: update => server.update(update),
    everywhere: server.turned && { update: server.update, turned: server.turned },
    reportTo: service.reports?.to ?? [],
    onReported: logFindings(log),
  });
  service.reports?.begin(following.report);
  let http: PlainHttp | undefined;
  onStop(async reason => {
    log.info({ reason }, 'stopping');
    await worker?.leavePorts();
    following.close();
    http?.close();
    await server.stop(STOP_GRACE_MS);
    await store.close();
    tls?.close();
    process.exit(0);
  }, worker !== undefined);
  if (worker?.late) await server.serving;
  const { host, port } = config.address;
  const at = await server
    .listen({ host, port, tls: tls?.server(isClient), source: worker?.port('decisions') })
    .catch((error: Error) =>
      exit(`ADDRESS: cannot listen on ${host} port ${port}: ${error.message}`),
    );
  http =
    config.http && (await servePlainHttp(server.http, config.http, exit, worker?.port('http')));
  log.info({ ...at, store: store.kind, ...(worker && { pid: process.pid }) }, 'listening');
  process.send?.({ listening: true, ...at });
  await server.serving;
  process.send?.({ ready: true });
}

async function openTls({
  config,
  exit,
  group,
  log,
}: DecisionService): Promise<MutualTls | undefined> {
  const { tlsFolder } = config;
  if (tlsFolder === undefined) return undefined;
  return orExit(exit, () => openMutualTls(tlsFolder, { group, log, now: Date.now }));
}

/**
 * Logs each finding when it appears and when it is gone. With `reported` the control plane tells of
 * it too.
 */
function logFindings(log: Logger) {
  return (found: readonly ReportedFinding[], gone: readonly ReportedFinding[]) => {
    for (const { resource, field, severity, message } of found)
      log[severity === 'error' ? 'error' : 'warn'](
        { resource, field, reason: message, reported: true },
        'a Problem in a resource appeared',
      );
    for (const { resource, field, message } of gone)
      log.info({ resource, field, reason: message }, 'a Problem in a resource is gone');
  };
}
