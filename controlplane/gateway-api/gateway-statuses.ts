import { problemOf } from '#controlplane/compile/problem-of.ts';
import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';
import type { Problem } from '#resources/problem.ts';
import { type CheckedListener, listenerConditions } from './checked-listener.ts';
import {
  conditionOf,
  type Fault,
  type NamedCondition,
  notProgrammed,
  tellFaults,
} from './condition.ts';
import type {
  GatewayApiStatus,
  GatewayStatus,
  ListenerSetStatus,
  ListenerStatus,
} from './gateway-api-status.ts';
import type { GatewayListeners } from './gateway-listeners.ts';
import type { OurGateway, OurListenerSet } from './our-gateway.ts';
import type { ListenerOrigin } from './route-parent.ts';
import type { ServedOn } from './route-verdict.ts';
import type { SecretName } from './served-gateway.ts';

/** A Gateway with the client certificate that it asks for, or why it cannot have it. */
export type StatedGateway = OurGateway & { readonly client: SecretName | Fault | undefined };

export type Stated = {
  readonly statuses: readonly (readonly [id: string, status: GatewayApiStatus])[];
  readonly problems: readonly Problem[];
};

type Facts = {
  readonly listeners: GatewayListeners;
  readonly attached: ReadonlyMap<string, readonly ServedOn[]>;
};

/** Returns what the statuses of Gateways and their ListenerSets say. */
export function gatewayStatuses(
  gateways: readonly StatedGateway[],
  listeners: GatewayListeners,
  attached: ReadonlyMap<string, readonly ServedOn[]>,
): Stated {
  const facts = { listeners, attached };
  const each = gateways.map(gateway => stateGateway(gateway, facts));
  return {
    statuses: each.flatMap(({ statuses }) => statuses),
    problems: each.flatMap(({ problems }) => problems),
  };
}

function stateGateway(ours: StatedGateway, facts: Facts): Stated {
  const { gateway, faults, isServed, sets, client } = ours;
  const own = checkedOf(gateway, facts);
  const setsStated = sets.map(set => stateSet(set, ours, facts));
  const isAnyValid = [own, ...sets.map(({ listenerSet }) => checkedOf(listenerSet, facts))]
    .flat()
    .some(({ valid }) => valid);
  const unresolved = client !== undefined && 'reason' in client ? [client] : [];
  const accepted = acceptedGateway(faults, own, isAnyValid);
  const status: GatewayStatus = {
    kind: 'Gateway',
    generation: gateway.metadata?.generation ?? 0,
    conditions: [
      accepted,
      resolvedGateway(unresolved, own),
      ...(accepted.status === 'True' ? [] : [notProgrammed('Invalid', unmade(faults, isServed))]),
      ...insecure(ours),
    ],
    listeners: listenersOf(own, facts),
    attachedListenerSets: setsStated.filter(({ accepted }) => accepted).length,
  };
  return {
    statuses: [[gateway.id, status], ...setsStated.map(({ entry }) => entry)],
    problems: [
      ...[...faults, ...unresolved].map(fault => toProblem(gateway, fault)),
      ...listenerProblems(gateway, own),
      ...setsStated.flatMap(({ problems }) => problems),
    ],
  };
}

/** @returns undefined for what the proxies do not get */
function unmade(faults: readonly Fault[], isServed: boolean): string | undefined {
  return faults.length > 0 && isServed ? UNMADE : undefined;
}

const UNMADE =
  'No proxies are made for it until the Gateway is accepted. Those that it has serve its listeners';

function checkedOf(
  { id }: { readonly id: string },
  { listeners }: Facts,
): readonly CheckedListener[] {
  return listeners.checked.get(id) ?? [];
}

function acceptedGateway(
  faults: readonly Fault[],
  own: readonly CheckedListener[],
  isAnyValid: boolean,
): NamedCondition {
  if (faults.length > 0) return conditionOf('Accepted', faults, { message: '' });
  return acceptedListeners(own, isAnyValid, GATEWAY_SERVED);
}

function acceptedListeners(
  checked: readonly CheckedListener[],
  isAnyValid: boolean,
  message: string,
): NamedCondition {
  const invalid = checked.filter(({ valid }) => !valid);
  if (invalid.length === 0) return conditionOf('Accepted', [], { message });
  const status = isAnyValid ? 'True' : 'False';
  return { type: 'Accepted', status, reason: 'ListenersNotValid', message: tellInvalid(invalid) };
}

/** Our words for a Gateway that is accepted whole. */
export const GATEWAY_SERVED = 'The Gateway is served';

/** Our words for a ListenerSet that is accepted whole. */
export const SET_SERVED = 'Its listeners are served';

function tellInvalid(invalid: readonly CheckedListener[]): string {
  return `Not served: ${tellFaults(invalid.flatMap(({ listener, ...rest }) => firstFault(rest) ?? noKind(listener.field)))}`;
}

function firstFault({
  conflict,
  accepted,
  resolved,
}: Pick<CheckedListener, 'conflict' | 'accepted' | 'resolved'>): Fault | undefined {
  return conflict ?? accepted[0] ?? resolved[0];
}

function noKind(field: string): Fault {
  return { reason: 'InvalidRouteKinds', field, message: 'it serves no kind of route' };
}

function resolvedGateway(
  unresolved: readonly Fault[],
  own: readonly CheckedListener[],
): NamedCondition {
  const listeners = own.flatMap(({ resolved }) => resolved);
  const [first] = listeners;
  const summary = first === undefined ? [] : [{ ...first, reason: 'ListenersNotResolved' }];
  return conditionOf('ResolvedRefs', [...unresolved, ...summary], {
    message: 'All references are resolved',
  });
}

function insecure({ gateway }: OurGateway): readonly NamedCondition[] {
  const { frontend } = gateway.spec.tls ?? {};
  const all =
    frontend === undefined ? [] : [frontend.default, ...frontend.perPort.map(each => each.tls)];
  const isInsecure = all.some(({ validation }) => validation?.mode === 'AllowInsecureFallback');
  return isInsecure ? [INSECURE] : [];
}

const INSECURE: NamedCondition = {
  type: 'InsecureFrontendValidationMode',
  status: 'True',
  reason: 'ConfigurationChanged',
  message: 'Clients without a valid certificate may connect',
};

function listenersOf(
  checked: readonly CheckedListener[],
  { listeners, attached }: Facts,
): readonly ListenerStatus[] {
  return checked.map(each => ({
    name: each.listener.spec.name,
    supportedKinds: each.listener.kinds.map(kind => ({ group: GATEWAY_API_GROUP, kind })),
    attachedRoutes: (attached.get(each.listener.id) ?? []).filter(({ accepted }) => accepted)
      .length,
    conditions: listenerConditions(each, listeners.overlapping.has(each.listener)),
  }));
}

type StatedSet = {
  readonly entry: readonly [id: string, status: ListenerSetStatus];
  readonly accepted: boolean;
  readonly problems: readonly Problem[];
};

function stateSet(set: OurListenerSet, ours: OurGateway, facts: Facts): StatedSet {
  const { gateway, faults, isServed } = ours;
  const { listenerSet } = set;
  const checked = checkedOf(listenerSet, facts);
  const isValid = checked.some(({ valid }) => valid);
  const rejected = setFault(set, faults);
  const accepted = rejected ?? acceptedListeners(checked, isValid, SET_SERVED);
  const status: ListenerSetStatus = {
    kind: 'ListenerSet',
    generation: listenerSet.metadata?.generation ?? 0,
    gateway: gateway.id,
    conditions: [
      accepted,
      ...(accepted.status === 'True' ? [] : [unprogrammedSet(accepted, unmade(faults, isServed))]),
    ],
    listeners: listenersOf(checked, facts),
  };
  const rejection =
    rejected === undefined || (set.allowed && isServed)
      ? []
      : [problemOf(listenerSet, 'error', 'spec.parentRef', rejected.message)];
  return {
    entry: [listenerSet.id, status],
    accepted: accepted.status === 'True',
    problems: [...rejection, ...listenerProblems(listenerSet, checked)],
  };
}

function setFault(
  { allowed }: OurListenerSet,
  faults: readonly Fault[],
): NamedCondition | undefined {
  const no = (reason: string, message: string): NamedCondition => ({
    type: 'Accepted',
    status: 'False',
    reason,
    message,
  });
  if (!allowed) return no('NotAllowed', 'the Gateway does not allow it');
  return faults.length > 0 ? no('ParentNotAccepted', 'the Gateway is not accepted') : undefined;
}

function unprogrammedSet({ reason }: NamedCondition, why: string | undefined): NamedCondition {
  return reason === 'ParentNotAccepted'
    ? notProgrammed('ParentNotProgrammed', why)
    : notProgrammed(reason);
}

function listenerProblems(
  origin: ListenerOrigin,
  checked: readonly CheckedListener[],
): readonly Problem[] {
  const faults = checked.flatMap(({ accepted, resolved, conflict }) => [
    ...(conflict === undefined ? [] : [conflict]),
    ...accepted,
    ...resolved,
  ]);
  const distinct = new Map(faults.map(fault => [`${fault.field} ${fault.message}`, fault]));
  return [...distinct.values()].map(fault => toProblem(origin, fault));
}

function toProblem(origin: ListenerOrigin, { field, message }: Fault): Problem {
  return problemOf(origin, 'error', field, message);
}
