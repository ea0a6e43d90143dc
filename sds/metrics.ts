import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { changedKeys } from '#xds/persistent-map.ts';
import type { Instances } from './instances/instance.ts';
import { NO_SUCH_PORT } from './instances/instances-named.ts';
import type { QueryOutcome } from './instances/record-set.ts';

export type Metrics = {
  readonly registry: Registry;
  /** Takes the instances that are served from now on. */
  served(instances: Instances): void;
  clientConnected(): void;
  clientDisconnected(): void;
  acked(): void;
  nacked(): void;
  httpAnswered(status: number): void;
  dnsQueried(outcome: QueryOutcome['kind']): void;
  fileProblem(): void;
};

/**
 * Creates the service's own registry: what it serves, to which clients, and the state of its
 * sources.
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers });

  const instances = gauge('sds_instances', 'Instances served, by service', ['service']);
  const clients = gauge('sds_clients', 'Discovery streams that are connected');
  const updates = counter('sds_updates_total', 'Times that the sources told of the instances');
  const answers = counter(
    'sds_responses_total',
    'Responses that clients have answered on streams',
    ['answer'],
  );
  const requests = counter('sds_http_requests_total', 'HTTP/1.1 requests by status', ['status']);
  const queries = counter(
    'sds_dns_queries_total',
    'DNS queries by outcome: found, missing, failed',
    ['outcome'],
  );
  const problems = counter(
    'sds_instances_file_problems_total',
    'Mistakes found in the instances file',
  );
  let last: Instances = new Map();
  return {
    registry,
    served(next) {
      for (const service of changedKeys(last, next)) {
        const members = next.get(service);
        if (members === undefined || members === NO_SUCH_PORT) instances.remove({ service });
        else instances.set({ service }, members.length);
      }
      last = next;
      updates.inc();
    },
    clientConnected: () => clients.inc(),
    clientDisconnected: () => clients.dec(),
    acked: () => answers.inc({ answer: 'ack' }),
    nacked: () => answers.inc({ answer: 'nack' }),
    httpAnswered: status => requests.inc({ status }),
    dnsQueried: outcome => queries.inc({ outcome }),
    fileProblem: () => problems.inc(),
  };
}
