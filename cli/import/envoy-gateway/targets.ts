import type { Fields } from '#resources/words/fields.ts';
import { fieldsAt, listAt, textAt } from '../fields-at.ts';
import type { SourceObject } from '../source-object.ts';

export const GATEWAY_API = 'gateway.networking.k8s.io';
export const ENVOY_GATEWAY = 'gateway.envoyproxy.io';

/** Kinds of routes whose rules may have Filters. */
const HTTP_ROUTES: readonly string[] = ['HTTPRoute', 'GRPCRoute'];

/** One rule of a route. */
export type Rule = { readonly route: SourceObject; readonly index: number };

/** A rule that a policy covers. A higher `rank` is more specific, and the highest counts. */
export type Covered = Rule & {
  readonly rank: number;
  /** The target. Policies for different ones count beside each other when they have one rank. */
  readonly target: string;
};

export function isHttpRoute({ group, kind }: SourceObject): boolean {
  return group === GATEWAY_API && HTTP_ROUTES.includes(kind);
}

/** Routes of bytes, which have neither Filters nor a way to be answered 500. */
const STREAM_ROUTES: readonly string[] = ['TCPRoute', 'TLSRoute', 'UDPRoute'];

export function isStreamRoute({ group, kind }: SourceObject): boolean {
  return group === GATEWAY_API && STREAM_ROUTES.includes(kind);
}

/** Returns the rules of a route. Without any it has one, for all requests. */
export function rulesOf(route: SourceObject): readonly unknown[] {
  const rules = listAt(route.fields, 'spec', 'rules');
  return rules.length === 0 ? [{}] : rules;
}

/** Returns the rules that a policy covers among these objects. */
export function coveredBy(
  policy: SourceObject,
  objects: readonly SourceObject[],
): readonly Covered[] {
  const routes = objects.filter(object => isHttpRoute(object) || isStreamRoute(object));
  return targetsOf(policy, objects).flatMap(target => {
    const { kind, name, section } = target;
    if (kind === 'GatewayClass')
      return routes
        .filter(route => mayBeOfClass(route, name, objects))
        .flatMap(route => covered(route, RANKS.gateway, targetKey(target)));
    if (kind === 'Gateway' || kind === 'ListenerSet')
      return routes
        .filter(route => isAttached(route, policy, target))
        .flatMap(route => covered(route, rankAt(route, policy, target), idOf(policy, target)));
    return routes
      .filter(route => route.kind === kind && route.name === name && sameNamespace(route, policy))
      .flatMap(route => ofSection(route, section));
  });
}

/** `listener` is for routes that are attached to this listener alone. */
const RANKS = { gateway: 1, listener: 2, route: 3, rule: 4 } as const;

/** Returns whether an object that a policy is for is among these. */
export function hasTarget(policy: SourceObject, objects: readonly SourceObject[]): boolean {
  return targetsOf(policy, objects).some(({ kind, name }) =>
    objects.some(
      object =>
        object.group === GATEWAY_API &&
        object.kind === kind &&
        object.name === name &&
        sameNamespace(object, policy),
    ),
  );
}

/** Something that a policy is for. */
export type Target = { readonly kind: string; readonly name: string; readonly section?: string };

/** Returns what a policy is for, also what its selectors choose among these objects. */
export function targetsOf(
  policy: SourceObject,
  objects: readonly SourceObject[],
): readonly Target[] {
  const { targetRef } = fieldsAt(policy.fields, 'spec');
  const written = [
    ...(targetRef === undefined ? [] : [targetRef]),
    ...listAt(policy.fields, 'spec', 'targetRefs'),
  ];
  const named = written.map((target): Target => {
    const section = textAt(target, 'sectionName');
    const { kind, name } = fieldsAt(target);
    return {
      kind: String(kind),
      name: String(name),
      ...(section === undefined ? {} : { section }),
    };
  });
  const selected = listAt(policy.fields, 'spec', 'targetSelectors').flatMap(selector =>
    objects
      .filter(object => isSelected(object, policy, selector))
      .map(({ kind, name }): Target => ({ kind, name })),
  );
  return [...named, ...selected];
}

/** A policy of ours has so many targets at most. */
const MOST_TARGETS = 16;
const TARGET_KINDS: readonly string[] = ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute'];

/** Returns `targetRefs` of policies of ours that have these targets together. */
export function targetRefs(targets: readonly Target[]): readonly (readonly Fields[])[] {
  const keys = targets.map(targetKey);
  const refs = targets
    .filter(({ kind }, at) => TARGET_KINDS.includes(kind) && keys.indexOf(keys[at] ?? '') === at)
    .map(({ kind, name, section }) => ({
      kind,
      name,
      ...(section === undefined ? {} : { sectionName: section }),
    }));
  return Array.from({ length: Math.ceil(refs.length / MOST_TARGETS) }, (_, at) =>
    refs.slice(at * MOST_TARGETS, (at + 1) * MOST_TARGETS),
  );
}

export function targetKey({ kind, name, section = '' }: Target): string {
  return `${kind}/${name}/${section}`;
}

/** Expressions are not compared: it is safer to cover more. */
function isSelected(object: SourceObject, policy: SourceObject, selector: unknown): boolean {
  const labels = fieldsAt(object.fields, 'metadata', 'labels');
  const wanted = Object.entries(fieldsAt(selector, 'matchLabels'));
  return (
    object.group === GATEWAY_API &&
    object.kind === textAt(selector, 'kind') &&
    sameNamespace(object, policy) &&
    wanted.every(([name, value]) => labels[name] === value)
  );
}

/** A route of a ListenerSet may be one of any Gateway, so it counts as one of this. */
function isAttached(route: SourceObject, policy: SourceObject, { name, section }: Target): boolean {
  return parentsOf(route).some(parent => {
    if (parent.kind === 'ListenerSet') return true;
    const isThere = [undefined, parent.section].includes(section) || parent.section === undefined;
    return isThere && parent.name === name && sameNamespace(parent, policy);
  });
}

/** A Gateway that is not among the files, and that of a ListenerSet, may have any class. */
function mayBeOfClass(
  route: SourceObject,
  name: string,
  objects: readonly SourceObject[],
): boolean {
  return parentsOf(route).some(parent => {
    const gateway = objects.find(
      object =>
        object.group === GATEWAY_API &&
        object.kind === parent.kind &&
        object.kind === 'Gateway' &&
        object.name === parent.name &&
        sameNamespace(object, parent),
    );
    return (
      gateway === undefined || textAt(fieldsAt(gateway.fields, 'spec'), 'gatewayClassName') === name
    );
  });
}

function rankAt(route: SourceObject, policy: SourceObject, target: Target): number {
  const isOnlyThere = parentsOf(route).every(
    parent => idOf(parent, parent) === idOf(policy, target),
  );
  return isOnlyThere && target.section !== undefined ? RANKS.listener : RANKS.gateway;
}

function idOf({ namespace = 'default' }: Placed, target: Target): string {
  return `${namespace}/${targetKey(target)}`;
}

function parentsOf(route: SourceObject): readonly (Target & Placed)[] {
  return listAt(route.fields, 'spec', 'parentRefs').map(parent => {
    const section = textAt(parent, 'sectionName');
    return {
      kind: textAt(parent, 'kind') ?? 'Gateway',
      name: textAt(parent, 'name') ?? '',
      namespace: textAt(parent, 'namespace') ?? route.namespace,
      ...(section === undefined ? {} : { section }),
    };
  });
}

type Placed = { readonly namespace?: string | undefined };

export function sameNamespace(a: Placed, b: Placed): boolean {
  return (a.namespace ?? 'default') === (b.namespace ?? 'default');
}

function covered(route: SourceObject, rank: number, target: string): readonly Covered[] {
  return rulesOf(route).map((_, index) => ({ route, index, rank, target }));
}

function ofSection(route: SourceObject, section: string | undefined): readonly Covered[] {
  const all = covered(route, section === undefined ? RANKS.route : RANKS.rule, '');
  return section === undefined
    ? all
    : all.filter(({ index }) => textAt(rulesOf(route)[index], 'name') === section);
}
