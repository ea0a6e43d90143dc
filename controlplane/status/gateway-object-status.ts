import { isDeepStrictEqual } from 'node:util';
import type { NamedCondition } from '#controlplane/gateway-api/condition.ts';
import type {
  AncestorStatus,
  GatewayApiStatus,
  GatewayStatus,
  ListenerSetStatus,
  ParentStatus,
} from '#controlplane/gateway-api/gateway-api-status.ts';
import { MOST_ANCESTORS } from '#controlplane/gateway-api/unlisted-ancestors.ts';
import type { ServedObject } from '#resources/kubernetes/served-object.ts';
import { type Fields, isFields } from '#resources/words/fields.ts';
import { fieldsIn, mergeConditions } from './conditions.ts';
import {
  addressesAssigned,
  type GatewayProgress,
  listenersGeneration,
  withProgrammed,
} from './gateway-programmed.ts';

export type GatewayStatusFacts = {
  /** The name of this controller, which marks what is ours. */
  readonly controller: string;
  /** Returns what the proxies and the cluster say of a Gateway or ListenerSet, by its id. */
  progressOf(id: string): GatewayProgress;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

const OF_GATEWAY = [
  'Accepted',
  'InsecureFrontendValidationMode',
  'Programmed',
  'Reachable',
  'ResolvedRefs',
];
/** Where nothing is known of addresses, what was told of them stays. */
const OF_ADDRESSES = 'AddressesAssigned';
const OF_SET = ['Accepted', 'Programmed', 'Reachable'];
const OF_CLASS = ['Accepted', 'SupportedVersion'];
const OF_LISTENER = [
  'Accepted',
  'Conflicted',
  'OverlappingTLSConfig',
  'Programmed',
  'ResolvedRefs',
];
const OF_ROUTE = ['Accepted', 'PartiallyInvalid', 'Reachable', 'ResolvedRefs'];

/** Gateway API lists so many at most. */
const MOST_PARENTS = 32;

/**
 * Returns the fields of the status that an object of Gateway API should have. What other
 * controllers wrote stays as it is.
 * @returns undefined when the object has them
 */
export function gatewayObjectStatus(
  object: ServedObject,
  status: GatewayApiStatus,
  facts: GatewayStatusFacts,
): object | undefined {
  const before = isFields(object.status) ? object.status : {};
  const next = fieldsOf(before, status, object, facts);
  const same = Object.entries(next).every(([field, value]) =>
    isDeepStrictEqual(before[field] ?? EMPTY[field], value),
  );
  return same ? undefined : next;
}

/** Lists that need not be written to be empty. */
const EMPTY: Fields = {
  ancestors: [],
  attachedListenerSets: 0,
  parents: [],
  addresses: [],
  supportedFeatures: [],
};

function fieldsOf(
  before: Fields,
  status: GatewayApiStatus,
  object: ServedObject,
  facts: GatewayStatusFacts,
): Fields {
  switch (status.kind) {
    case 'GatewayClass':
      return {
        conditions: merge(before.conditions, status.conditions, OF_CLASS, status, facts),
        supportedFeatures: status.supportedFeatures.map(name => ({ name })),
      };
    case 'Gateway':
    case 'ListenerSet':
      return listenerFields(before, status, object, facts);
    case 'Route':
      return {
        parents: entries(
          before.parents,
          status.parents.map(parentEntry),
          status,
          facts,
          MOST_PARENTS,
        ),
      };
    case 'Policy':
      return {
        ancestors: entries(
          before.ancestors,
          status.ancestors.map(ancestorEntry),
          status,
          facts,
          MOST_ANCESTORS,
        ),
      };
  }
}

function merge(
  before: unknown,
  wanted: readonly NamedCondition[],
  ours: readonly string[],
  { generation }: { readonly generation: number },
  { now }: GatewayStatusFacts,
): readonly Fields[] {
  return mergeConditions(before, { wanted, ours, generation, now });
}

function listenerFields(
  before: Fields,
  status: GatewayStatus | ListenerSetStatus,
  object: ServedObject,
  facts: GatewayStatusFacts,
): Fields {
  const id = `${status.kind}/${object.namespace}/${object.name}`;
  const progress = facts.progressOf(id);
  const { conditions, listeners } = withProgrammed(status, before, progress);
  const known = fieldsIn(before.listeners);
  const about = { generation: listenersGeneration(status) };
  const of = status.kind === 'Gateway' ? ofGateway(status, progress) : OF_SET_ALONE;
  return {
    conditions: merge(
      before.conditions,
      [...conditions, ...of.conditions],
      of.types,
      status,
      facts,
    ),
    listeners: listeners.map(listener => {
      const old = known.find(({ name }) => name === listener.name);
      return {
        ...listener,
        conditions: merge(old?.conditions, listener.conditions, OF_LISTENER, about, facts),
      };
    }),
    ...of.fields,
  };
}

/** What a Gateway or a ListenerSet has alone. */
type Alone = {
  readonly types: readonly string[];
  readonly conditions: readonly NamedCondition[];
  readonly fields: Fields;
};

const OF_SET_ALONE: Alone = { types: OF_SET, conditions: [], fields: {} };

function ofGateway(status: GatewayStatus, progress: GatewayProgress): Alone {
  const { attachedListenerSets } = status;
  const { addresses } = progress;
  if (addresses === undefined)
    return { types: OF_GATEWAY, conditions: [], fields: { attachedListenerSets } };
  return {
    types: [...OF_GATEWAY, OF_ADDRESSES],
    conditions: addressesAssigned(status, progress),
    fields: { attachedListenerSets, addresses },
  };
}

/** An entry of a list that several controllers write: what it is about, and our conditions. */
type Entry = {
  readonly about: Fields;
  readonly conditions: readonly NamedCondition[];
};

function parentEntry({ parentRef, conditions }: ParentStatus): Entry {
  return { about: { parentRef: { ...parentRef } }, conditions };
}

function ancestorEntry({ ancestorRef, conditions }: AncestorStatus): Entry {
  return { about: { ancestorRef: { ...ancestorRef } }, conditions };
}

/** Other controllers' entries stay where they are, and so do ours that are about something. */
function entries(
  before: unknown,
  wanted: readonly Entry[],
  status: { readonly generation: number },
  facts: GatewayStatusFacts,
  most: number,
): readonly Fields[] {
  const { controller: controllerName } = facts;
  const left = [...wanted];
  const kept = fieldsIn(before).flatMap(old => {
    if (old.controllerName !== controllerName) return [old];
    const at = left.findIndex(({ about }) => isAbout(old, about));
    const [next] = at < 0 ? [] : left.splice(at, 1);
    return next === undefined ? [] : [toFields(next, old.conditions)];
  });
  function toFields({ about, conditions }: Entry, old: unknown): Fields {
    return {
      ...about,
      controllerName,
      conditions: merge(old, conditions, OF_ROUTE, status, facts),
    };
  }
  const added = left.map(entry => toFields(entry, undefined));
  return [...kept, ...added.slice(0, Math.max(0, most - kept.length))];
}

function isAbout(old: Fields, about: Fields): boolean {
  return Object.entries(about).every(([field, value]) => isDeepStrictEqual(old[field], value));
}
