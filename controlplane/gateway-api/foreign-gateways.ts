import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';
import { type Resource, resourceId } from '#resources/resource.ts';

/**
 * Leaves out Gateways that have no class of this controller, and ListenerSets that name none of the
 * others. What these refer to is not for it to read.
 */
export function withoutForeign(
  resources: readonly Resource[],
  controller: string,
): readonly Resource[] {
  const classes = new Set(
    resources.flatMap(each =>
      each.kind === 'GatewayClass' && each.spec.controllerName === controller ? each.name : [],
    ),
  );
  const isOurs = (each: Resource) =>
    each.kind === 'Gateway' && classes.has(each.spec.gatewayClassName);
  const ours = new Set(resources.filter(isOurs).map(({ id }) => id));
  return resources.filter(each => {
    if (each.kind === 'Gateway') return ours.has(each.id);
    return each.kind !== 'ListenerSet' || ours.has(parentOf(each));
  });
}

/** Returns the id of the Gateway that a ListenerSet names, or an empty text. */
export function parentOf({ namespace: home, spec }: Resource<'ListenerSet'>): string {
  const { group, kind, name, namespace = home } = spec.parentRef;
  return group === GATEWAY_API_GROUP ? resourceId(kind, namespace, name) : '';
}
