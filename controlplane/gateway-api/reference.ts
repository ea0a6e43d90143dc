import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';
import type { Resource } from '#resources/resource.ts';
import type { Fault } from './condition.ts';

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

export function isService(group: string, kind: string): boolean {
  return group === '' && kind === 'Service';
}

export function notPermitted(field: string, what: string): Fault {
  const message = `no ReferenceGrant in its namespace allows the reference to the ${what}`;
  return { reason: 'RefNotPermitted', field, message };
}

/** Returns `Kind` or `Kind of group`. */
export function kindText(group: string, kind: string): string {
  return group === '' ? kind : `${kind} of ${group}`;
}
