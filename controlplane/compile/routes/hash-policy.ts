import type { JsonObject } from '#protos/json.ts';
import { isHashing, type LoadBalancer } from '#resources/traffic/load-balancer.ts';
import { toDuration } from '../duration.ts';

/**
 * Returns the part of Envoy's `RouteAction` that says by what of a request the instance is chosen,
 * for clusters that choose so.
 */
export function hashPolicyOf(balancer: LoadBalancer | undefined): JsonObject {
  const policy = balancer !== undefined && isHashing(balancer) ? policyOf(balancer) : undefined;
  return policy === undefined ? {} : { hash_policy: [policy] };
}

function policyOf({ cookie, header, source_ip }: LoadBalancer): JsonObject | undefined {
  if (cookie !== undefined) return { cookie: cookieOf(cookie) };
  if (header !== undefined) return { header: { header_name: header } };
  return source_ip ? { connection_properties: { source_ip: true } } : undefined;
}

function cookieOf({ name, ttl, path }: NonNullable<LoadBalancer['cookie']>): JsonObject {
  return {
    name,
    ...(ttl === undefined ? {} : { ttl: toDuration(ttl) }),
    ...(path === undefined ? {} : { path }),
  };
}
