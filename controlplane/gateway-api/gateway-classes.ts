import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { conditionOf, type Fault } from './condition.ts';
import type { GatewayClassStatus } from './gateway-api-status.ts';
import type { ObjectsContext } from './gateway-context.ts';
import { parametersFaults } from './parameters-faults.ts';
import { supportedFeatures } from './supported-features.ts';

/** One of our classes, and why it is not accepted. */
export type OurClass = {
  readonly gatewayClass: Resource<'GatewayClass'>;
  readonly faults: readonly Fault[];
  readonly status: GatewayClassStatus;
};

/** Returns the classes of this controller, by name. */
export function ourClasses(
  { gatewayClasses }: ResourceSet,
  context: ObjectsContext,
): ReadonlyMap<string, OurClass> {
  const { controller } = context.options;
  const ours = gatewayClasses.filter(({ spec }) => spec.controllerName === controller);
  return new Map(ours.map(each => [each.name, toOurClass(each, context)]));
}

function toOurClass(gatewayClass: Resource<'GatewayClass'>, context: ObjectsContext): OurClass {
  const { spec, metadata } = gatewayClass;
  const faults = parametersFaults(spec.parametersRef, 'spec.parametersRef', context);
  const status: GatewayClassStatus = {
    kind: 'GatewayClass',
    generation: metadata?.generation ?? 0,
    conditions: [conditionOf('Accepted', faults, { message: 'This controller serves the class' })],
    supportedFeatures: supportedFeatures(context.options),
  };
  return { gatewayClass, faults, status };
}
