import type { JsonObject } from '#protos/json.ts';
import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { CompiledResource } from '../compiled.ts';
import { mappingDomain } from '../mapping-domain.ts';
import { problemOf } from '../problem-of.ts';

/**
 * An Envoy with a heap of 2 GiB holds about so many routes: 200,000 took 784 MB, 600,000 took
 * 2,300 MB [measured].
 */
const HELD_ROUTES = 500_000;

/** More routes are told. They take half of the heap. A table that changes is there twice. */
export const MOST_ROUTES = 250_000;

/** Returns a Problem when the tables of a node group have more routes than a proxy should hold. */
export function manyRoutesProblems(
  group: string,
  tables: readonly CompiledResource[],
  { mappings, proxyConfigs }: Pick<ResourceSet, 'mappings' | 'proxyConfigs'>,
): readonly Problem[] {
  const routes = tables.reduce((sum, { json }) => sum + routesOf(json), 0);
  if (routes <= MOST_ROUTES) return [];
  const hosts = new Set(tables.flatMap(table => hostsOf(table.json).flatMap(each => each.domains)));
  const everywhere = mappings.filter(({ spec }) => mappingDomain(spec) === '*');
  const [first] = [...everywhere, ...mappings, ...proxyConfigs];
  if (first === undefined) return [];
  const message = `the ${number(hosts.size)} hosts of node group "${group}" have ${number(routes)} routes together. ${number(everywhere.length)} Mappings have no \`host\`, so each of these hosts has them. A proxy with a heap of 2 GiB holds about ${number(HELD_ROUTES)}, and turns requests away beyond that. Give the Mappings a narrower \`host\`, or raise \`max_heap_size_bytes\` in the bootstrap of the proxies`;
  return [problemOf(first, 'warning', 'spec.host', message)];
}

type Host = { readonly domains: readonly string[]; readonly routes: readonly JsonObject[] };

/** The compiler wrote them. */
function hostsOf({ virtual_hosts }: JsonObject): readonly Host[] {
  return (virtual_hosts ?? []) as unknown as readonly Host[];
}

/** Each domain gets its own copy (`with-shards.ts`). */
function routesOf(table: JsonObject): number {
  return hostsOf(table).reduce(
    (sum, { domains, routes }) => sum + domains.length * routes.length,
    0,
  );
}

function number(value: number): string {
  return value.toLocaleString('en');
}
