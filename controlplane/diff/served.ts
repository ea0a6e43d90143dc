import { EDGE } from '#controlplane/compile/node-groups.ts';
import { toRank, toRouteMatch } from '#controlplane/compile/routes/mapping-match.ts';
import { compareRoutes } from '#controlplane/compile/routes/route-entry.ts';
import type { EnvoyRequest } from '#controlplane/explain/envoy-request.ts';
import { unmetConditions } from '#controlplane/explain/route-conditions.ts';
import type { JsonObject } from '#protos/json.ts';
import type { Rejected, Resource } from '#resources/resource.ts';
import type { Service } from '#resources/words/service.ts';
import type { AccessWorld } from './access-world.ts';
import { type Conditions, HEADER, METHOD, PARAMETER } from './conditions.ts';
import { BYPASS, CLOSED, type Decision } from './decision.ts';
import { regionOf } from './mapping-region.ts';
import type { Region } from './region.ts';
import { regionIndex } from './region-index.ts';

export type Mapping = Resource<'Mapping'>;

/** The Mappings of one side, but for those that get copies alone. */
export type Indexed = {
  /** Returns those of a node group that have requests in common with a region. */
  serving(group: string, region: Region): readonly Mapping[];
  /** The same of those at the edge that decide by themselves. */
  deciding(region: Region): readonly Mapping[];
};

/** One side of a change. */
export type Served = {
  readonly access: AccessWorld;
  readonly mappings: readonly Mapping[];
  readonly indexed: Indexed;
};

export function indexed(mappings: readonly Mapping[]): Indexed {
  const serving = mappings.filter(({ spec }) => !spec.shadow);
  const regionOfItem = ({ spec }: Mapping) => regionOf(spec);
  const groups = Map.groupBy(serving, ({ spec }) => spec.node_group);
  const byGroup = new Map(
    [...groups].map(([group, all]) => [group, regionIndex(all, regionOfItem)]),
  );
  const deciding = (groups.get(EDGE) ?? []).filter(each => ownDecision(each) !== undefined);
  return {
    serving: (group, region) => byGroup.get(group)?.(region) ?? [],
    deciding: regionIndex(deciding, regionOfItem),
  };
}

/** Whether a Mapping of the request's host matches it. */
export function matches({ spec }: Mapping, request: EnvoyRequest): boolean {
  const match = known.get(spec) ?? toRouteMatch(spec);
  known.set(spec, match);
  return unmetConditions(match, request).length === 0;
}

const known = new WeakMap<Mapping['spec'], JsonObject>();

export function requestOf({ host, path }: Region, conditions: Conditions): EnvoyRequest {
  const given = [...conditions].flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const after = (what: string) =>
    given
      .filter(([name]) => name.startsWith(what))
      .map(([name, value]) => [name.slice(what.length), value] as const);
  return {
    path,
    query: new Map(after(PARAMETER)),
    headers: new Map([
      [':authority', [host]],
      [':method', [conditions.get(METHOD) ?? 'GET']],
      ...after(HEADER).map(([name, value]) => [name, [value]] as const),
    ]),
    remoteAddress: '203.0.113.7',
  };
}

/** Returns what a Mapping decides about its requests whatever rules say, if it does. */
export function ownDecision({ id, spec }: Mapping): Decision | undefined {
  if (spec.closed) return { ...CLOSED, by: `closed of ${id}` };
  return spec.bypass_auth ? { ...BYPASS, by: `bypass_auth of ${id}` } : undefined;
}

/** Returns what decides about a request that a Mapping at the edge serves. */
export function decisionAt(
  mapping: Mapping,
  { host, path }: Region,
  access: AccessWorld,
): Decision {
  return ownDecision(mapping) ?? access.decide(host, path);
}

/**
 * Returns what a rejected Mapping closes, as a Mapping with `closed: true`. Of its other fields
 * none counts.
 */
export function rejectedMapping({ match, ...rejected }: Rejected): readonly Mapping[] {
  if (match === undefined) return [];
  const spec = { ...match, closed: true, service: NO_SERVICE } as Mapping['spec'];
  return [{ ...rejected, kind: 'Mapping', hash: '', spec }];
}

const NO_SERVICE: Service = { scheme: 'http', host: 'none', port: 80, portGiven: false };

/** Compares by which Envoy tries first. */
export function compareMappings(a: Mapping, b: Mapping): number {
  return compareRoutes(entryOf(a), entryOf(b));
}

function entryOf({ id, spec }: Mapping) {
  return { rank: toRank(spec, id), route: {}, origins: [] };
}
