import { nodeGroups } from '#controlplane/compile/all-node-groups.ts';
import { compile } from '#controlplane/compile/compile.ts';
import { carriesBytes } from '#controlplane/compile/gateways/backend-cluster-name.ts';
import { SDS } from '#controlplane/compile/node-groups.ts';
import type { CompileOptions } from '#controlplane/compile/options.ts';
import { problemOf } from '#controlplane/compile/problem-of.ts';
import type { Failure } from '#controlplane/upstreams/failure.ts';
import { type Upstream, upstreamsOf } from '#controlplane/upstreams/upstream.ts';
import { upstreamField } from '#controlplane/upstreams/upstream-field.ts';
import { describeOf } from '#controlplane/upstreams/upstream-problems.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource, ResourcesById } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { compareText } from '#resources/words/order.ts';
import { dial, type Target } from './dial.ts';
import { inTurn } from './in-turn.ts';
import { servedContent } from './served-content.ts';

export type Live = {
  readonly problems: readonly Problem[];
  readonly tried: number;
  /** Names of the discovery service, which alone knows where they are. */
  readonly discovered: readonly string[];
};

/** This many targets are tried at a time. */
const AT_ONCE = 50;

/** A field that names a target. */
type Place = { readonly resource: Resource; readonly field: string };

/**
 * Tries from here what the resources name as targets of requests. Each failure is an error at every
 * field that names the target. Equal targets are tried once.
 */
export async function liveProblems(
  set: ResourceSet,
  resources: ResourcesById,
  options: CompileOptions,
): Promise<Live> {
  const upstreams = nodeGroups(set).flatMap(group =>
    upstreamsOf(group, compile(set, group, options)),
  );
  const content = servedContent(compile(set, SDS, options));
  const targets = new Map<string, { readonly target: Target; readonly places: Place[] }>();
  for (const upstream of upstreams) {
    const places = placesOf(upstream, resources);
    if (places.length === 0) continue;
    for (const host of upstream.hosts) {
      const { family } = upstream;
      // What clients and such a service say to each other is not known.
      const tls = carriesBytes(upstream.cluster) ? 'hop' : upstream.tls;
      const dialled = tls === undefined || tls === 'hop' ? tls : content(tls);
      const target = { ...host, family, ...(dialled === undefined ? {} : { tls: dialled }) };
      const key = JSON.stringify([host, family, tls ?? '']);
      const known = targets.get(key);
      if (known === undefined) targets.set(key, { target, places: [...places] });
      else known.places.push(...places);
    }
  }
  const found = await inTurn([...targets.values()], AT_ONCE, async ({ target, places }) =>
    (await dial(target)).flatMap(failure => places.map(place => toProblem(place, failure))),
  );
  const discovered = upstreams.flatMap(({ discovered: name = [] }) => name);
  return {
    problems: found.flat().sort(byPlace),
    tried: targets.size,
    discovered: [...new Set(discovered)].sort(),
  };
}

function byPlace(a: Problem, b: Problem): number {
  return compareText(a.file, b.file) || a.line - b.line;
}

function placesOf(upstream: Upstream, resources: ResourcesById): readonly Place[] {
  return upstream.origins.flatMap(id => {
    const resource = resources.get(id);
    // Nothing answers a connection of UDP.
    if (resource === undefined || resource.kind === 'UDPRoute') return [];
    const field = upstreamField(resource, upstream);
    return field === undefined ? [] : [{ resource, field }];
  });
}

function toProblem({ field, resource }: Place, failure: Failure): Problem {
  return problemOf(resource, 'error', field, describeOf(resource, field, failure));
}
