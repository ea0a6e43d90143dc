import type { LocalRef } from '#resources/kinds/gateway-api/object-ref.ts';
import { CERTIFICATES_GROUP, GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';
import type { Resource } from '#resources/resource.ts';
import type { Fault } from './condition.ts';
import type { GatewayOptions } from './gateway-options.ts';
import { kindText } from './reference-faults.ts';
import type { Ask } from './remembered.ts';
import type { CaSource } from './served-gateway.ts';

/** The object of Gateway API that has a reference. */
export type Referrer = { readonly kind: string; readonly namespace: string };

/** What a reference names. */
export type Referent = {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
};

/** Returns the function that says whether a reference to another namespace is allowed there. */
export function grantsOf(
  referenceGrants: readonly Resource<'ReferenceGrant'>[],
): (from: Referrer, to: Referent) => boolean {
  const byNamespace = Map.groupBy(referenceGrants, ({ namespace }) => namespace);
  return (from, to) =>
    from.namespace === to.namespace ||
    (byNamespace.get(to.namespace) ?? []).some(grant => allows(grant, from, to));
}

function allows({ spec }: Resource<'ReferenceGrant'>, from: Referrer, to: Referent): boolean {
  return (
    spec.from.some(
      ({ group, kind, namespace }) =>
        group === GATEWAY_API_GROUP && kind === from.kind && namespace === from.namespace,
    ) &&
    spec.to.some(
      ({ group, kind, name }) =>
        group === to.group && kind === to.kind && (name === undefined || name === to.name),
    )
  );
}

/**
 * Returns the kind of an object with authorities.
 * @returns undefined for one that is not read
 */
export function authorityKind({
  group,
  kind,
}: Pick<Referent, 'group' | 'kind'>): CaSource['kind'] | undefined {
  if (group === CERTIFICATES_GROUP && kind === 'ClusterTrustBundle') return kind;
  return group === '' && (kind === 'ConfigMap' || kind === 'Secret') ? kind : undefined;
}

/** Returns what to write in place of a kind that holds no authorities. */
export function noAuthorities({ group, kind }: Pick<Referent, 'group' | 'kind'>): string {
  return `${kindText(group, kind)} is not served here. Name a ConfigMap, a Secret or a ClusterTrustBundle`;
}

/** Returns why the authorities of an object are not trusted. */
export function notTrusted(kind: string, namespace: string, name: string, why: string): string {
  const place = namespace === '' ? name : `${namespace}/${name}`;
  return `the ${kind} ${place} cannot be trusted: ${why}`;
}

/** Knows the Filters. */
export type Filters = {
  readonly options: GatewayOptions;
  filter(namespace: string, name: string): Resource<'Filter'> | undefined;
};

/** Returns the Filter that an `extensionRef` names, or why there is none. */
export function filterNamed(
  { group, kind, name }: LocalRef,
  field: string,
  namespace: string,
  ask: Ask<Filters>,
): Resource<'Filter'> | Fault {
  if (kind !== 'Filter' || !ask(context => context.options).apiGroups.includes(group)) {
    const message = `${kindText(group, kind)} is not served here. Name a Filter of ours`;
    return { reason: 'InvalidKind', field, message };
  }
  const filter = ask(context => context.filter(namespace, name));
  if (filter !== undefined) return filter;
  const message = `there is no Filter ${namespace}/${name}`;
  return { reason: 'BackendNotFound', field, message };
}
