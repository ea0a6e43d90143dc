import type { Memo } from '#controlplane/compile/memo.ts';
import {
  isReadableTarget,
  type PolicyTarget,
  TARGET_KINDS,
} from '#resources/kinds/gateway-api/policy-target.ts';
import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';
import { type Rejected, type Resource, resourceId } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { byAge } from './by-age.ts';

/** A FilterPolicy by one of its targets, or what is left of a rejected one. */
export type TargetingPolicy =
  | { readonly policy: Resource<'FilterPolicy'>; readonly target: number }
  | { readonly closed: Rejected };

/** Answers which policies target something, by the keys that `targetKey` returns. */
export type TargetedPolicies = {
  readonly isEmpty: boolean;
  /**
   * Returns the FilterPolicy in force for the first key that has one. Of several for one target the
   * oldest counts, unless one is rejected, which closes it. The result stays the same object.
   */
  filterPolicy(keys: readonly string[]): TargetingPolicy | undefined;
  /** Returns the ids of the RateLimits for these keys, in one text. All of them count. */
  rateLimits(keys: readonly string[]): string;
  rateLimit(id: string): Resource<'RateLimit'> | undefined;
};

const KINDS: readonly string[] = TARGET_KINDS;

function isTargetKind({ group, kind }: PolicyTarget): boolean {
  return group === GATEWAY_API_GROUP && KINDS.includes(kind);
}

/** Returns the key of a whole object, or of its listener or rule of this name. */
export function targetKey(id: string, section = ''): string {
  return `${id}/${section}`;
}

/** Returns the id of what a policy of this namespace targets. */
export function targetId(namespace: string, { kind, name }: PolicyTarget): string {
  return resourceId(kind, namespace, name);
}

function namespaceOf(key: string): string {
  const [, namespace = ''] = key.split('/', 2);
  return namespace;
}

/** Finds the policies of every target. */
export function targetedPolicies(
  { closed, filterPolicies, rateLimits }: ResourceSet,
  memo: Memo,
): TargetedPolicies {
  const first = new Map<string, TargetingPolicy>();
  const namespaces = new Map<string, TargetingPolicy>();
  const add = (key: string, found: TargetingPolicy) => first.has(key) || first.set(key, found);
  const inForce = new Set(filterPolicies.map(({ id }) => id));
  for (const rejected of closed.filter(({ kind }) => kind === 'FilterPolicy')) {
    const found = memo.of(rejected, 'targets', [], () => ({ closed: rejected }));
    const { id, namespace, targets = [] } = rejected;
    if (!targets.every(isReadableTarget)) namespaces.set(namespace, found);
    const meant = targets.flatMap(target => (inForce.has(id) ? target : readings(target)));
    for (const key of keysOf(rejected, meant)) add(key, found);
  }
  for (const policy of filterPolicies.filter(hasTargets).sort(byAge)) {
    const found = memo.of(policy, 'targets', [], () =>
      (policy.spec.targetRefs ?? []).map((_, target) => ({ policy, target })),
    );
    for (const each of found) {
      const ref = policy.spec.targetRefs?.[each.target];
      for (const key of keysOf(policy, ref && [ref])) add(key, each);
    }
  }
  const limiting = rateLimits.filter(hasTargets);
  const limits = Map.groupBy(
    limiting.flatMap(limit =>
      keysOf(limit, limit.spec.targetRefs).map(key => [key, limit] as const),
    ),
    ([key]) => key,
  );
  const byId = new Map(limiting.map(limit => [limit.id, limit]));
  return {
    isEmpty: first.size + namespaces.size + limits.size === 0,
    filterPolicy: keys => {
      const of = (key: string) => namespaces.get(namespaceOf(key)) ?? first.get(key);
      const key = keys.find(each => of(each) !== undefined);
      return key === undefined ? undefined : of(key);
    },
    rateLimits: keys => {
      const ids = keys.flatMap(key => (limits.get(key) ?? []).map(([, { id }]) => id));
      return [...new Set(ids)].join('\n');
    },
    rateLimit: id => byId.get(id),
  };
}

/** Returns whether a policy or a limit is for targets. */
export function hasTargets({ spec }: Resource<'FilterPolicy'> | Resource<'RateLimit'>): boolean {
  return spec.targetRefs !== undefined;
}

/** What a target of no kind may mean, which is closed while no last good version is in force. */
function readings(target: PolicyTarget): readonly PolicyTarget[] {
  if (isTargetKind(target)) return [target];
  return TARGET_KINDS.map(kind => ({ ...target, group: GATEWAY_API_GROUP, kind }));
}

function keysOf(
  { namespace }: Pick<Resource, 'namespace'>,
  targets: readonly PolicyTarget[] = [],
): readonly string[] {
  return targets
    .filter(isTargetKind)
    .map(target => targetKey(targetId(namespace, target), target.sectionName));
}
