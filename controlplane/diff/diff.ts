import { nodeGroups } from '#controlplane/compile/all-node-groups.ts';
import { compile } from '#controlplane/compile/compile.ts';
import type { Compiled } from '#controlplane/compile/compiled.ts';
import { gatewayApiOf } from '#controlplane/compile/gateways/gateway-api-of.ts';
import { Memo } from '#controlplane/compile/memo.ts';
import { EDGE } from '#controlplane/compile/node-groups.ts';
import type { CompileOptions } from '#controlplane/compile/options.ts';
import { checkTlsSecrets } from '#controlplane/compile/tls/tls-secrets.ts';
import type { Problem } from '#resources/problem.ts';
import type { Rejected, Resource } from '#resources/resource.ts';
import { type ResourceSet, toResourceSet } from '#resources/resource-set.ts';
import { type ChangedRegion, changedRegions, compareEffects, effectOf } from './access-changes.ts';
import { accessWorld } from './access-world.ts';
import {
  type AccessChange,
  type Difference,
  MOST_ACCESS,
  MOST_FACTS,
  SHOWN_ROUTES,
} from './difference.ts';
import { envoyChanges } from './envoy-changes.ts';
import { gatewayChanges } from './gateway-changes.ts';
import { gatewayRouteChanges, isGatewayRoute } from './gateway-route-changes.ts';
import { type GatewayWorld, type RouteRegion, routeRegions } from './gateway-world.ts';
import { limitChanges } from './limit-changes.ts';
import { regionOf } from './mapping-region.ts';
import { meet, type Region, samplesOf } from './region.ts';
import { requestChanges } from './request-changes.ts';
import { isInForce, resourceChanges, type Side } from './resource-changes.ts';
import { routeAccessChanges } from './route-access.ts';
import { routeFacts } from './route-facts.ts';
import { routeLimits } from './route-limits.ts';
import { type Indexed, indexed, type Mapping, ownDecision, rejectedMapping } from './served.ts';
import { type Given, type InForce, withDocuments } from './with-documents.ts';

export type DiffInputs = {
  readonly inForce: InForce;
  readonly given: Given;
  /** The Problems that are known of what is in force, beside those of compilation. */
  readonly known: readonly Problem[];
  readonly options: CompileOptions;
  readonly now: number;
  /** Whether Envoy's configuration is compared, too. */
  readonly envoy: boolean;
};

/**
 * Returns what the documents would change, by what both sides compile to. It is pure. Throws an
 * Error about an id that cannot be removed.
 */
export function diff({ inForce, given, known, options, now, envoy }: DiffInputs): Difference {
  const written = withDocuments(inForce, given);
  const compiler = compilerOf(options);
  const before = worldOf(inForce, compiler, now);
  const after = worldOf(written, compiler, now);
  const was = [...known, ...before.problems];
  const is = [...written.problems, ...after.problems];
  const changes = resourceChanges(sideOf(inForce), sideOf(written));
  const others = changes.filter(({ id }) => !isRoute(id) && !id.startsWith('RateLimit/'));
  const routes = changes.filter(({ id }) => id.startsWith('Mapping/'));
  const ofGateways = gatewayChanges(before, after);
  const access = [
    ...changedRegions(before.access, after.access, new Set(changes.map(({ id }) => id))),
    ...routeAccessChanges(
      routes.map(({ id }) => id),
      before,
      after,
    ),
    ...ofGateways.access,
  ].sort(compareEffects);
  return {
    problems: without(is, was),
    solved: without(before.problems, is),
    access: access.slice(0, MOST_ACCESS).map(change => withRoutes(change, before, after)),
    accessCount: access.length,
    isPartial: ofGateways.isPartial,
    routes: [
      ...routes.map((change, index) => {
        if (index >= MOST_FACTS) return change;
        const [old, next] = [inForce, written].map(side => mappingOf(side, change.id));
        return {
          ...change,
          ...(old && { before: routeFacts(old, before) }),
          ...(next && { after: routeFacts(next, after) }),
          ...requestChanges(old, next, before, after),
        };
      }),
      ...gatewayRouteChanges(changes, ofGateways.requests, before, after),
    ],
    limits: limitChanges(before, after),
    resources: others,
    envoy: envoy ? envoyChanges(before.compiled, after.compiled) : [],
  };
}

function isRoute(id: string): boolean {
  return id.startsWith('Mapping/') || isGatewayRoute(id);
}

type World = GatewayWorld & {
  readonly resources: ResourceSet;
  /** Also those that are rejected, which close what they match. */
  readonly mappings: readonly Mapping[];
  readonly regions: readonly RouteRegion[];
  readonly indexed: Indexed;
  readonly problems: readonly Problem[];
};

type Compiler = {
  readonly options: CompileOptions;
  compile(resources: ResourceSet, group: string): Compiled;
};

/** The second side reuses what is the same on the first. */
function compilerOf(options: CompileOptions): Compiler {
  const memos = new Map<string, Memo>();
  const sharing = { ...options, shared: options.shared ?? new Memo() };
  return {
    options: sharing,
    compile: (resources, group) => {
      const memo = memos.get(group) ?? new Memo();
      memos.set(group, memo);
      return compile(resources, group, { ...sharing, memo });
    },
  };
}

function worldOf({ resources, closed }: InForce, compiler: Compiler, now: number): World {
  const set = toResourceSet(resources.values(), closed);
  const rejected = new Map(closed.map(item => [item.id, item]));
  const { gateways } = compiler.options;
  const secrets = checkTlsSecrets({ resources, rejected }, [], now, gateways?.controller).problems;
  const groups = nodeGroups(set, compiler.options);
  const compiled = new Map(groups.map(group => [group, compiler.compile(set, group)]));
  // One that is in force counts, and not what is rejected of it.
  const mappings = [...set.closed.flatMap(rejectedMapping), ...set.mappings];
  const api = gatewayApiOf(set, compiler.options);
  return {
    api,
    resources: set,
    mappings,
    regions: routeRegions(compiled),
    indexed: indexed(mappings),
    compiled,
    problems: [...secrets, ...[...compiled.values()].flatMap(({ problems }) => problems)],
    access: accessWorld(set, compiler.options),
    limits: routeLimits(set, api),
  };
}

function sideOf({ resources, closed }: InForce): Side {
  return new Map<string, Resource | Rejected>([
    ...closed.map(item => [item.id, item] as const),
    ...resources,
  ]);
}

function mappingOf({ resources }: InForce, id: string): Mapping | undefined {
  const resource = resources.get(id);
  return isInForce(resource) && resource.kind === 'Mapping' ? resource : undefined;
}

/** Returns the change of a region with the Mappings there. That of a Mapping has its own. */
function withRoutes(
  change: ChangedRegion | AccessChange,
  before: World,
  after: World,
): AccessChange {
  if ('routes' in change) return change;
  const mappings = after.mappings.filter(
    mapping =>
      mapping.spec.node_group === EDGE &&
      ownDecision(mapping) === undefined &&
      isAffected(regionOf(mapping.spec), change, before, after),
  );
  const ofGateways = after.regions.filter(({ region }) =>
    isAffected(region, change, before, after),
  );
  const ids = [...new Set([...mappings, ...ofGateways].map(({ id }) => id))];
  return { ...change, routes: ids.slice(0, SHOWN_ROUTES), routeCount: ids.length };
}

/** Whether requests of a route are decided otherwise in the way of the region. */
function isAffected(own: Region, region: ChangedRegion, before: World, after: World): boolean {
  const common = meet(own, region);
  return (common === undefined ? [] : samplesOf(common)).some(
    ({ host, path }) =>
      effectOf(before.access.decide(host, path), after.access.decide(host, path)) === region.effect,
  );
}

/** Problems count as the same wherever the documents stand. */
function without(problems: readonly Problem[], others: readonly Problem[]): readonly Problem[] {
  const known = new Set(others.map(keyOf));
  return problems.filter(problem => !known.has(keyOf(problem)));
}

function keyOf({ severity, kind, namespace, name, field, message }: Problem): string {
  return JSON.stringify([severity, kind, namespace, name, field, message]);
}
