import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ProxyStatus, Status } from './status.ts';

/**
 * Counters of events. The rest is read from the status at each scrape. Labels hold only names of
 * the operator's.
 */
export type Metrics = {
  readonly registry: Registry;
  acked(type: string): void;
  nacked(type: string): void;
  /** Records that a change of the resources was read, parsed and compiled in this many seconds. */
  published(seconds: number): void;
  /** Records an attempt to write the status of a Kubernetes object. */
  statusWritten(result: string): void;
  /** Records whether this control plane writes statuses. */
  statusLeading(leading: boolean): void;
};

export function createMetrics(status: () => Status): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const answers = new Counter({
    name: 'gateway_xds_answers_total',
    help: 'Answers of proxies to what they were sent',
    labelNames: ['type', 'answer'],
    registers,
  });
  const publish = new Histogram({
    name: 'gateway_publish_seconds',
    help: 'Time from a change of the resources to its configuration being published',
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2],
    registers,
  });
  const statusWrites = new Counter({
    name: 'gateway_status_writes_total',
    help: 'Writes of the status of resources in Kubernetes, by result',
    labelNames: ['result'],
    registers,
  });
  const statusLeader = new Gauge({
    name: 'gateway_status_leader',
    help: 'Whether this control plane writes the status of resources in Kubernetes',
    registers,
  });
  gauge('gateway_ready', 'Whether configuration is served', [], set =>
    set({}, status().ready ? 1 : 0),
  );
  gauge('gateway_resources', 'Resources by state', ['state'], set => {
    for (const [state, count] of countBy(status().resources, ({ state }) => state))
      set({ state }, count);
  });
  gauge('gateway_problems', 'Problems by severity', ['severity'], set => {
    for (const severity of ['error', 'warning']) set({ severity }, 0);
    for (const [severity, count] of countBy(status().problems, problem => problem.severity))
      set({ severity }, count);
  });
  gauge(
    'gateway_proxies',
    'Connected proxies by group, unknown for a group without configuration',
    ['group'],
    set => {
      for (const [group, count] of countBy(status().proxies, knownGroup)) set({ group }, count);
    },
  );
  return {
    registry,
    acked: type => answered(type, 'ack'),
    nacked: type => answered(type, 'nack'),
    published: seconds => publish.observe(seconds),
    statusWritten: result => statusWrites.inc({ result }),
    statusLeading: leading => statusLeader.set(leading ? 1 : 0),
  };

  /** Prometheus sees an increase only of a series that was there before. */
  function answered(type: string, answer: 'ack' | 'nack'): void {
    for (const each of ['ack', 'nack'])
      answers.inc({ type, answer: each }, each === answer ? 1 : 0);
  }

  type Set = (labels: Record<string, string>, value: number) => void;
  function gauge(name: string, help: string, labelNames: string[], read: (set: Set) => void): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        read((labels, value) => this.set(labels, value));
      },
    });
  }
}

/** A client can use any name, but an unknown group is sent nothing. */
function knownGroup({ group, types }: ProxyStatus): string {
  return types.some(({ sent }) => sent !== undefined) ? group : 'unknown';
}

function countBy<T>(items: readonly T[], key: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1);
  return counts;
}
