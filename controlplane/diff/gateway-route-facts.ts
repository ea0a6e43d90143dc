import type { Route } from '#controlplane/explain/route-configuration.ts';
import type { RouteFacts } from './difference.ts';
import { matchText, samplesIn } from './gateway-match.ts';
import { type GatewayWorld, gatewayTables, requestServer, targetText } from './gateway-world.ts';
import { accessText } from './route-facts.ts';

/** What is told of the routes that Envoy has of one resource. */
type Found = {
  readonly group: string;
  readonly hosts: Set<string>;
  readonly routes: Map<string, Route>;
};

const MOST_PATHS = 4;

/**
 * Returns what is told of routes of Gateways, by id. A route that no listener serves, or that is
 * for connections, is not among them.
 */
export function gatewayRouteFacts(
  ids: ReadonlySet<string>,
  world: GatewayWorld,
): ReadonlyMap<string, RouteFacts> {
  if (ids.size === 0) return new Map();
  const found = new Map<string, Found>();
  for (const [name, table] of gatewayTables(world.compiled))
    for (const [domain, { routes }] of table)
      for (const route of routes) {
        if (!ids.has(route.name)) continue;
        const known = found.get(route.name) ?? {
          ...{ group: name.split(':', 1)[0] ?? '', hosts: new Set(), routes: new Map() },
        };
        known.hosts.add(domain);
        known.routes.set(JSON.stringify(route), route);
        found.set(route.name, known);
      }
  return new Map([...found].map(([id, each]) => [id, factsOf(id, each, world)]));
}

function factsOf(id: string, { group, hosts, routes }: Found, world: GatewayWorld): RouteFacts {
  const { limits } = world;
  const { decide } = requestServer(world);
  const all = [...routes.values()];
  const [host = '*'] = hosts;
  const access = all.flatMap(route => {
    const [at] = samplesIn(route.match, host);
    return at === undefined
      ? []
      : [[matchText(route.match), accessText(decide(route, at))] as const];
  });
  const texts = new Set(access.map(([, text]) => text));
  return {
    group,
    host: [...hosts].sort().join(', '),
    path: shortened(all.map(({ match }) => matchText(match))),
    conditions: [],
    to: [...new Set(all.map(targetText))].join('; '),
    access: texts.size > 1 ? access.map(([path, text]) => `${path}: ${text}`) : [...texts],
    limits: limits.namesOf(id),
  };
}

function shortened(paths: readonly string[]): string {
  const more = paths.length - MOST_PATHS;
  return [...paths.slice(0, MOST_PATHS), ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}
