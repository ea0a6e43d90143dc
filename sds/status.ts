import { CLUSTER_LOAD_ASSIGNMENT } from '#protos/type-url.ts';
import type { StreamStatus } from '#xds/discovery-observer.ts';
import type { Snapshot } from '#xds/snapshot.ts';
import type { Instances } from './instances/instance.ts';
import { NO_SUCH_PORT } from './instances/instances-named.ts';

/**
 * Returns the content of `/status`. It holds the instances of each service with the served version,
 * and the connected clients. `acked` says that every client on a stream has ACKed the newest
 * version of all that it subscribes to. Clients that poll by REST are unknown.
 */
export function statusOf(
  instances: Instances,
  snapshot: Snapshot,
  clients: readonly StreamStatus[],
): object {
  const assignments = snapshot.get(CLUSTER_LOAD_ASSIGNMENT);
  const acked = clients.every(client => client.standing === 'settled');
  const listed = [...instances].filter(([, members]) => members !== NO_SUCH_PORT);
  const services = listed
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([service, members]) => [
      service,
      { instances: members, version: assignments?.get(service)?.version, acked },
    ]);
  return { services: Object.fromEntries(services), clients };
}
