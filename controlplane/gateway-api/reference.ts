import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';
import type { Resource } from '#resources/resource.ts';

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
