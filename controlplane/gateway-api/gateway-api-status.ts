import type { ParentRef } from '#resources/kinds/gateway-api/parent-ref.ts';
import type { NamedCondition } from './condition.ts';

/**
 * What the status of an object of Gateway API says. `generation` is that of the version which it is
 * about. `Programmed` is among the conditions only where it is false for a reason that the proxies
 * need not tell.
 */
export type GatewayApiStatus =
  | GatewayClassStatus
  | GatewayStatus
  | ListenerSetStatus
  | RouteStatus
  | PolicyStatus;

export type GatewayClassStatus = {
  readonly kind: 'GatewayClass';
  readonly generation: number;
  readonly conditions: readonly NamedCondition[];
  /** Names of features, sorted. */
  readonly supportedFeatures: readonly string[];
};

export type GatewayStatus = {
  readonly kind: 'Gateway';
  readonly generation: number;
  readonly conditions: readonly NamedCondition[];
  readonly listeners: readonly ListenerStatus[];
  /** The generation that `listeners` are about, where an older version is in force. */
  readonly listenersGeneration?: number;
  readonly attachedListenerSets: number;
};

export type ListenerSetStatus = {
  readonly kind: 'ListenerSet';
  readonly generation: number;
  /** Id of its Gateway. */
  readonly gateway: string;
  readonly conditions: readonly NamedCondition[];
  readonly listeners: readonly ListenerStatus[];
  /** As for a Gateway. */
  readonly listenersGeneration?: number;
};

export type ListenerStatus = {
  readonly name: string;
  readonly supportedKinds: readonly GroupKind[];
  readonly attachedRoutes: number;
  readonly conditions: readonly NamedCondition[];
};

export type GroupKind = { readonly group: string; readonly kind: string };

export type RouteStatus = {
  readonly kind: 'Route';
  readonly generation: number;
  /** One for each reference to one of our Gateways or ListenerSets. */
  readonly parents: readonly ParentStatus[];
};

export type ParentStatus = {
  readonly parentRef: ParentRef;
  readonly conditions: readonly NamedCondition[];
};

export type PolicyStatus = {
  readonly kind: 'Policy';
  readonly generation: number;
  /** One for each of our Gateways that it has an effect on, and each target that has none. */
  readonly ancestors: readonly AncestorStatus[];
};

export type AncestorStatus = {
  readonly ancestorRef: Omit<ParentRef, 'sectionName' | 'port'>;
  readonly conditions: readonly NamedCondition[];
};
