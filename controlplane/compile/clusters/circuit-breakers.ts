import type { JsonObject } from '#protos/json.ts';
import type { CircuitBreakers } from '#resources/traffic/circuit-breakers.ts';

/**
 * Far above what a service can take, and still a bound. Retries have the same bound as first tries:
 * each request has one.
 */
const MOST = 10_000;

type Priority = CircuitBreakers[number]['priority'];

/**
 * Returns the part of Envoy's `Cluster` that bounds its open requests and connections, for each
 * priority.
 */
export function circuitBreakers(
  limits: CircuitBreakers = [],
  priority: Priority = 'default',
): JsonObject {
  const named = [priority, ...limits.map(limit => limit.priority)];
  const priorities: readonly Priority[] = named.includes('high')
    ? ['default', 'high']
    : ['default'];
  const thresholds = priorities.map(each =>
    threshold(
      each,
      limits.find(limit => limit.priority === each),
    ),
  );
  return { circuit_breakers: { thresholds } };
}

function threshold(priority: Priority, limit: Partial<CircuitBreakers[number]> = {}): JsonObject {
  const {
    max_connections = MOST,
    max_pending_requests = MOST,
    max_requests = MOST,
    max_retries = MOST,
  } = limit;
  return {
    ...(priority === 'high' ? { priority: 'HIGH' } : {}),
    ...{ max_connections, max_pending_requests, max_requests, max_retries },
  };
}
