import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { KubernetesReports } from './kubernetes-source.ts';

/** The state of the watch of a namespace. */
export type WatchStatus = {
  /**
   * `connecting` means that nothing is known yet. `away` means that what was last known stays in
   * force.
   */
  readonly state: 'connecting' | 'watching' | 'away';
  readonly reason?: string;
  readonly slices: number;
  readonly lists: number;
  readonly last_change?: string;
  /**
   * Why the ports of Services are not followed. Until then a number means a port of the instances,
   * and other numbers lead to the main port.
   */
  readonly service_ports?: string;
};

const NEW: WatchStatus = { state: 'connecting', slices: 0, lists: 0 };

/**
 * Turns the reports of the source into log lines and metrics. Returns what `/status` says of it, by
 * namespace.
 */
export function kubernetesReports(
  log: Logger,
  registry: Registry,
  now: () => number,
): KubernetesReports & { status(): Readonly<Record<string, WatchStatus>> } {
  const metrics = watchMetrics(registry);
  const watches = new Map<string, WatchStatus>();
  const update = (namespace: string, change: (before: WatchStatus) => Partial<WatchStatus>) => {
    const before = watches.get(namespace) ?? NEW;
    watches.set(namespace, { ...before, ...change(before) });
  };
  return {
    onWatching(namespace) {
      if (watches.get(namespace)?.state === 'away')
        log.info({ namespace }, 'the Kubernetes API answers again');
      const { reason: _, ...rest } = watches.get(namespace) ?? NEW;
      watches.set(namespace, { ...rest, state: 'watching' });
      metrics.watching.set({ namespace }, 1);
    },
    onListed(namespace) {
      update(namespace, ({ lists }) => ({ lists: lists + 1 }));
      metrics.lists.inc({ namespace });
    },
    onChanged(namespace, changed, slices) {
      update(namespace, () => ({ slices, last_change: new Date(now()).toISOString() }));
      metrics.changes.inc({ namespace }, changed);
      metrics.lastChange.set({ namespace }, now() / 1000);
    },
    onTrouble(namespace, error, repeated) {
      const reason = error.message;
      update(namespace, ({ lists }) => ({ state: lists === 0 ? 'connecting' : 'away', reason }));
      metrics.watching.set({ namespace }, 0);
      metrics.failures.inc({ namespace });
      if (!repeated)
        log.error(
          { namespace, reason },
          'endpoints cannot be followed, so what was last known stays in force',
        );
    },
    onPorts(namespace, error) {
      const { service_ports: told, ...known } = watches.get(namespace) ?? NEW;
      watches.set(
        namespace,
        error === undefined ? known : { ...known, service_ports: error.message },
      );
      if (error !== undefined && error.message !== told)
        log.warn(
          { namespace, reason: error.message },
          "Services cannot be followed: a port that is not one of the instances' own may lead to the main one",
        );
    },
    onUnusable: (slice, reason) => log.warn({ slice, reason }, 'this EndpointSlice is left out'),
    status: () => Object.fromEntries(watches),
  };
}

function watchMetrics(registry: Registry) {
  const registers = [registry];
  const labelNames = ['namespace'];
  const counter = (name: string, help: string) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames, registers });
  return {
    watching: gauge(
      'sds_kubernetes_watching',
      'Whether the EndpointSlices of a namespace are being watched',
    ),
    lists: counter('sds_kubernetes_lists_total', 'Whole lists of EndpointSlices that were read'),
    failures: counter('sds_kubernetes_failures_total', 'Lists and watches that have failed'),
    changes: counter(
      'sds_kubernetes_changes_total',
      'EndpointSlices that were added, changed or deleted',
    ),
    lastChange: gauge(
      'sds_kubernetes_last_change_timestamp_seconds',
      'When an EndpointSlice changed last',
    ),
  };
}
