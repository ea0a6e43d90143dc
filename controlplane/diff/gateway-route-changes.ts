import type { Source } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import {
  MOST_FACTS,
  MOST_REQUESTS,
  type RequestChange,
  type ResourceChange,
  type RouteChange,
} from './difference.ts';
import { gatewayRouteFacts } from './gateway-route-facts.ts';
import type { GatewayWorld } from './gateway-world.ts';

type World = GatewayWorld & { readonly resources: ResourceSet };

const ROUTE = /^(?:HTTP|GRPC|TLS|TCP|UDP)Route\//;

export function isGatewayRoute(id: string): boolean {
  return ROUTE.test(id);
}

/**
 * Returns the routes of Gateways that change themselves, and then those whose requests go elsewhere
 * because of another resource.
 */
export function gatewayRouteChanges(
  changes: readonly ResourceChange[],
  requests: ReadonlyMap<string, readonly RequestChange[]>,
  before: World,
  after: World,
): readonly RouteChange[] {
  const own = changes.filter(({ id }) => isGatewayRoute(id));
  const known = new Map(own.map(({ id, change }) => [id, change]));
  const moved = [...requests.keys()].filter(id => isGatewayRoute(id) && !known.has(id));
  const others = moved.flatMap(id => {
    const source = sourceOf(id, after) ?? sourceOf(id, before);
    return source === undefined ? [] : [{ change: 'changed' as const, id, ...source, fields: [] }];
  });
  const all = [...own, ...others];
  const told = new Set(all.slice(0, MOST_FACTS).map(({ id }) => id));
  const [was, is] = [gatewayRouteFacts(told, before), gatewayRouteFacts(told, after)];
  return all.map(change => {
    const [old, next] = [was.get(change.id), is.get(change.id)];
    const lines = (requests.get(change.id) ?? []).filter(request => isTold(request, known));
    return {
      ...change,
      ...(old && { before: old }),
      ...(next && { after: next }),
      ...(lines.length === 0
        ? {}
        : { requests: lines.slice(0, MOST_REQUESTS), requestCount: lines.length }),
    };
  });
}

/** Of a new or removed route, only requests are told that have a route on both sides. */
function isTold(
  { after, before }: RequestChange,
  changes: ReadonlyMap<string, ResourceChange['change']>,
): boolean {
  if (before === undefined) return changes.get(after?.route ?? '') !== 'added';
  return after !== undefined || changes.get(before.route) !== 'removed';
}

function sourceOf(id: string, { resources }: World): Source | undefined {
  const { grpcRoutes, httpRoutes } = resources;
  return [...httpRoutes, ...grpcRoutes].find(each => each.id === id)?.source;
}
