import { contextDemands } from '#controlplane/compile/tls/client-demands.ts';
import { contextOf } from '#controlplane/compile/tls/host-context.ts';
import type { Resource, ResourcesById } from '#resources/resource.ts';
import { compareText } from '#resources/words/order.ts';

/** What a TLSContext has one version of its Hosts demand of clients, and not the next one. */
export type LostDemand = {
  readonly by: Resource<'TLSContext'>;
  /** In words. */
  readonly restricts: { readonly demand: string };
  mayCover(resource: Resource): boolean;
};

/** Returns the demands of TLSContexts that changed or went away. */
export function lostDemands(before: ResourcesById, after: ResourcesById): readonly LostDemand[] {
  const was = contextsIn(before);
  const lost = was.tlsContexts
    .filter(({ id, hash }) => after.get(id)?.hash !== hash)
    .flatMap(by => contextDemands(by).map(demand => ({ by, restricts: { demand } })));
  if (lost.length === 0) return [];
  const now = contextsIn(after);
  return lost.map(({ by, restricts }) => ({
    by,
    restricts,
    mayCover: resource => {
      // A Host with settings of its own goes by these.
      if (resource.kind !== 'Host' || resource.spec.tls !== undefined) return false;
      const [had, has] = [contextOf(resource, was), contextOf(resource, now)];
      // A Host whose TLSContext is missing is closed.
      if ('error' in had || had.value?.id !== by.id || 'error' in has) return false;
      return has.value === undefined || !contextDemands(has.value).includes(restricts.demand);
    },
  }));
}

function contextsIn(resources: ResourcesById) {
  const tlsContexts = [...resources.values()]
    .filter(resource => resource.kind === 'TLSContext')
    .sort((a, b) => compareText(a.id, b.id));
  return { tlsContexts, closed: [] };
}
