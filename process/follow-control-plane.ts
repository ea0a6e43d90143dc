import { hostname } from 'node:os';
import { credentials } from '@grpc/grpc-js';
import type { Logger } from 'pino';
import { formatHostPort, type HostPort } from '#grpc/host-port.ts';
import { ORDER } from '#protos/type-url.ts';
import { type ConnectOptions, connect } from '#xds/client.ts';
import { after } from './after.ts';
import { FOLLOWED } from './followed.ts';
import type { MutualTls } from './mutual-tls.ts';
import { type OrderTaker, TakenOrders } from './orders.ts';
import { type FollowsAll, ReportEverywhere } from './report-everywhere.ts';
import { type Report, type ReporterParts, reporter } from './reporter.ts';

export type FollowOptions = Pick<ConnectOptions, 'typeUrls' | 'onUpdate'> & {
  /** The group that the control plane sends configuration to. */
  readonly group: string;
  /** Where the control plane is. */
  readonly xds: HostPort;
  readonly tls: MutualTls | undefined;
  /** What stays in force while the control plane is away, as the log calls it. */
  readonly what: string;
  /** Control planes that are told what is wrong, besides the one that is followed. */
  readonly reportTo: readonly HostPort[];
  /** Hears what those send, too. Without it they are only told. */
  readonly everywhere?: Pick<FollowsAll, 'update' | 'turned'> | undefined;
  readonly onReported?: ReporterParts['changed'];
  /** Does what operators order. Undefined when another process of the service does. */
  readonly orders?: OrderTaker | undefined;
  readonly log: Logger;
};

export type Following = { readonly report: Report; close(): void };

/** Follows a control plane, and tells all of them what is wrong with what it sent. */
export function followControlPlane(options: FollowOptions): Following {
  const {
    everywhere: hears,
    group,
    log,
    onReported: changed,
    onUpdate,
    orders,
    reportTo,
    tls,
    typeUrls,
    what,
    xds,
  } = options;
  const controlPlane = formatHostPort(xds);
  const client = {
    credentials: tls?.client('controlplane') ?? credentials.createInsecure(),
    node: { id: `${hostname()}-${process.pid}`, cluster: group },
    random: Math.random,
    after,
  };
  const taken = orders && new TakenOrders(orders, () => reports.answered());
  const followed = connect({
    ...client,
    address: controlPlane,
    typeUrls: taken === undefined ? typeUrls : [...typeUrls, ORDER],
    onUpdate: update => (update.typeUrl === ORDER ? taken?.take(update) : onUpdate(update)),
    onDisconnect: reason => {
      log.warn({ controlPlane, reason }, `no control plane, ${what} stay`);
      hears?.turned(FOLLOWED, 'away');
    },
    onReconnect: () => {
      log.info({ controlPlane }, 'the control plane is back');
      hears?.turned(FOLLOWED, 'here');
    },
  });
  const everywhere = new ReportEverywhere({
    ...{ ...client, followed, servers: reportTo, log },
    follows: hears && { ...hears, typeUrls },
  });
  const reports = reporter({
    send: (report, answered) => everywhere.send(report, answered),
    outcomes: () => taken?.outcomes ?? [],
    ...(changed && { changed }),
    after,
  });
  return {
    report: reports.report,
    close: () => {
      everywhere.close();
      followed.close();
    },
  };
}
