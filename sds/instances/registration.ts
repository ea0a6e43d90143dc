import type { JsonObject } from '#protos/json.ts';
import type { Instance } from './instance.ts';
import { uniqueInstances } from './load-assignment.ts';

/**
 * Returns the instances of one service in the form of Envoy's first discovery API. It does not know
 * health, so only instances that may get requests are listed. No hosts is an answer too. Envoy
 * takes any status but 200 as a failed fetch and then keeps the hosts it has.
 * See Envoy 1.8, "Service discovery service", `GET /v1/registration/<service_name>`.
 */
export function registration(instances: readonly Instance[]): JsonObject {
  return { hosts: uniqueInstances(instances).filter(isAvailable).map(host) };
}

function isAvailable({ health_status: health }: Instance): boolean {
  return health === undefined || health === 'HEALTHY' || health === 'DEGRADED';
}

function host(instance: Instance): JsonObject {
  return {
    ip_address: instance.address,
    port: instance.port,
    tags: { az: instance.locality?.zone, load_balancing_weight: instance.load_balancing_weight },
  };
}
