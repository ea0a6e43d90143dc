import type { ServedObject } from '#resources/kubernetes/served-object.ts';
import type { StatusWrite } from './status-writer.ts';

/** Source: `GatewayClassFinalizerGatewaysExist` of Gateway API. */
export const GATEWAYS_EXIST = 'gateway-exists-finalizer.gateway.networking.k8s.io';

/**
 * Returns the finalizers of classes of this controller that are not as they should be. A class has
 * ours while a Gateway uses it, so that the cluster keeps it until then. `gatewayApi` are all
 * objects of Gateway API in the cluster.
 */
export function classFinalizers(
  gatewayApi: readonly ServedObject[],
  controller: string,
): readonly StatusWrite[] {
  const used = new Set(gatewayApi.flatMap(classOf));
  return gatewayApi.flatMap(object => {
    const [item] = object.parsed.resources;
    if (item?.kind !== 'GatewayClass' || item.spec.controllerName !== controller) return [];
    const finalizers = wanted(object, used.has(object.name));
    return finalizers === undefined ? [] : [{ object, status: { finalizers } }];
  });
}

/** A rejected Gateway uses its class too. */
function classOf({ parsed: { resources, rejected } }: ServedObject): readonly string[] {
  return [
    ...resources.flatMap(each => (each.kind === 'Gateway' ? each.spec.gatewayClassName : [])),
    ...rejected.flatMap(each => each.gatewayClass ?? []),
  ];
}

/** @returns undefined when the class has them, or can get no more since it is being deleted */
function wanted(
  { deleting, finalizers }: ServedObject,
  isUsed: boolean,
): readonly string[] | undefined {
  if (finalizers.includes(GATEWAYS_EXIST) === isUsed) return undefined;
  if (!isUsed) return finalizers.filter(each => each !== GATEWAYS_EXIST);
  return deleting ? undefined : [...finalizers, GATEWAYS_EXIST];
}
