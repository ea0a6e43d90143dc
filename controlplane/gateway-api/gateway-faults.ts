import { isAnywhere } from '#resources/kinds/gateway/routability.ts';
import type { Resource } from '#resources/resource.ts';
import type { Fault } from './condition.ts';
import type { OurClass } from './gateway-classes.ts';
import type { ObjectsContext } from './gateway-context.ts';
import { parametersFaults } from './parameters-faults.ts';

/** Returns why a Gateway is not accepted, whatever its listeners are. */
export function gatewayFaults(
  { spec, namespace }: Resource<'Gateway'>,
  { faults, gatewayClass }: OurClass,
  context: ObjectsContext,
): readonly Fault[] {
  const params = spec.infrastructure?.parametersRef;
  return [
    ...(faults.length === 0 ? [] : [classFault(gatewayClass.name)]),
    ...parametersFaults(
      params && { ...params, namespace },
      'spec.infrastructure.parametersRef',
      context,
    ),
    ...spec.addresses.flatMap(({ type, routability }, index) => [
      ...(type === 'IPAddress' ? [] : [addressFault(type, index)]),
      ...(isAnywhere(routability) || !context.options.sharedEdge
        ? []
        : [routabilityFault(routability, index)]),
    ]),
  ];
}

/**
 * Returns whether a Gateway with these faults is served. Its own proxies stay as they are until it
 * has none. A shared edge would serve it where it may not want to be reached.
 */
export function isServedWith(faults: readonly Fault[], { options }: ObjectsContext): boolean {
  return !options.sharedEdge || faults.every(({ reason }) => reason !== UNSUPPORTED_ADDRESS);
}

const UNSUPPORTED_ADDRESS = 'UnsupportedAddress';

function classFault(name: string): Fault {
  const message = `the GatewayClass ${name} is not accepted`;
  return { reason: 'InvalidParameters', field: 'spec.gatewayClassName', message };
}

function addressFault(type: string, index: number): Fault {
  const message = `an address of type ${type} cannot be had here. Write IPAddress`;
  return { reason: UNSUPPORTED_ADDRESS, field: `spec.addresses[${index}].type`, message };
}

/** The Service that Gateways share is reached from wherever others ask for. */
function routabilityFault(routability: string, index: number): Fault {
  const message = `an address of routability ${routability} cannot be had where Gateways share an edge. Leave it out, or set GATEWAY_EDGES to own`;
  return { reason: UNSUPPORTED_ADDRESS, field: `spec.addresses[${index}].routability`, message };
}
