import { problemOf } from '#controlplane/compile/problem-of.ts';
import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { OurClass } from './gateway-classes.ts';
import type { OurGateway } from './our-gateway.ts';

/** Returns Problems of classes, and of what names a class or Gateway that does not exist. */
export function unclassedProblems(
  { gateways, gatewayClasses, listenerSets }: ResourceSet,
  classes: readonly OurClass[],
  ours: readonly OurGateway[],
): readonly Problem[] {
  const known = new Set(gatewayClasses.map(({ name }) => name));
  const lost = gateways.filter(({ spec }) => !known.has(spec.gatewayClassName));
  const ids = new Set(gateways.map(({ id }) => id));
  const served = new Set(ours.flatMap(({ sets }) => sets.map(({ listenerSet }) => listenerSet)));
  return [
    ...classes.flatMap(({ gatewayClass, faults }) =>
      faults.map(({ field, message }) => problemOf(gatewayClass, 'error', field, message)),
    ),
    ...lost.map(gateway =>
      problemOf(
        gateway,
        'warning',
        'spec.gatewayClassName',
        `there is no GatewayClass ${gateway.spec.gatewayClassName}, so it is not served`,
      ),
    ),
    ...listenerSets
      .filter(set => {
        const { namespace = set.namespace, name } = set.spec.parentRef;
        return !served.has(set) && !ids.has(`Gateway/${namespace}/${name}`);
      })
      .map(set => problemOf(set, 'warning', 'spec.parentRef', 'there is no such Gateway')),
  ];
}
