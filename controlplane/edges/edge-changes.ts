import { createHash } from 'node:crypto';
import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { EDGES_LABEL, GATEWAY_ANNOTATION } from '#resources/words/gateway-edges.ts';
import { clusterAddresses, isSame } from './edge-addresses.ts';
import { edgeKey } from './edge-collections.ts';
import { type EdgeGateway, type EdgeSystem, gatewayIdOf } from './edge-gateway.ts';
import { type EdgeOwner, edgeConfigMap, edgeObjects } from './edge-objects.ts';
import { edgeServices } from './edge-service.ts';
import { holds } from './holds.ts';

/** What the operator's Gateways ask for. */
export type WantedEdges = {
  /** The Gateways that get what they ask for. */
  readonly gateways: readonly EdgeGateway[];
  /**
   * The identities of Gateways whose objects stay, by id: they ask for the impossible, or cannot be
   * read.
   */
  readonly kept: ReadonlyMap<string, string>;
};

/** One write to the cluster. */
export type EdgeChange = {
  readonly kind: 'apply' | 'delete';
  readonly key: string;
  readonly object: KubernetesObject;
  /** The ids of the Gateways that it is for. */
  readonly gateways: readonly string[];
  /** Whether the object is known to exist. */
  readonly isPresent: boolean;
};

/** The annotation with the hash of what was applied. It tells what is to be taken back. */
const APPLIED = 'gateway.internal/applied';

/** An object that should exist, and the ids of the Gateways that it is for. */
export type WantedObject = Pick<EdgeChange, 'object' | 'gateways'> & {
  /** A Service of that Gateway, which may have the address already that this one asks for. */
  readonly unless?: { readonly key: string; readonly clusterIP: string };
};

/**
 * Returns the objects that should exist, by key. Gateways whose names and classes meet around the
 * hyphen want objects of one name. One that exists stays with its Gateway, and else the first gets
 * it.
 */
export function wantedObjects(
  { gateways, kept }: WantedEdges,
  system: EdgeSystem,
): ReadonlyMap<string, readonly WantedObject[]> {
  const perGateway = gateways.flatMap(gateway => {
    const unless = alreadyHad(gateway);
    return edgeObjects(gateway, system).map((object): WantedObject => {
      const each = { object, gateways: [gatewayIdOf(gateway)] };
      const found = object.kind === 'Service' ? unless.get(object.metadata.name) : undefined;
      return found === undefined ? each : { ...each, unless: found };
    });
  });
  const namespaces = Map.groupBy(gateways, ({ namespace }) => namespace);
  const configMaps = [...namespaces].map(([namespace, ofNamespace]) => ({
    object: edgeConfigMap(namespace, [...ofNamespace, ...keptIn(namespace, kept)], system),
    gateways: ofNamespace.map(gatewayIdOf),
  }));
  const all = [...configMaps, ...perGateway].map(
    (each): WantedObject => ({ ...each, object: marked(each.object) }),
  );
  return Map.groupBy(all, ({ object }) => edgeKey(object));
}

/** The cluster removes what has no owner left. Pods that stay read the ConfigMap. */
function keptIn(namespace: string, kept: WantedEdges['kept']): readonly EdgeOwner[] {
  return [...kept].flatMap(([id, uid]) => {
    const [, of, name = ''] = id.split('/');
    return of === namespace ? [{ name, uid }] : [];
  });
}

/** Returns for Services that ask for a ClusterIP, by name, which other one may have it already. */
function alreadyHad(
  gateway: EdgeGateway,
): ReadonlyMap<string, NonNullable<WantedObject['unless']>> {
  const [main, ...further] = edgeServices(gateway);
  const key = `Service/${gateway.namespace}/${main.name}`;
  return new Map(
    further.flatMap(({ name, clusterIP }) =>
      clusterIP === undefined ? [] : [[name, { key, clusterIP }] as const],
    ),
  );
}

export type EdgeComparison = {
  readonly wanted: WantedEdges;
  /** What should exist (`wantedObjects`). */
  readonly objects: ReturnType<typeof wantedObjects>;
  /** What exists, by key. */
  readonly present: ReadonlyMap<string, KubernetesObject>;
  /** Returns whether a write may give an object what others have taken from it. */
  mayHeal(key: string, object: KubernetesObject): boolean;
};

/** Returns the writes that make what exists into what should. */
export function edgeChanges(comparison: EdgeComparison): readonly EdgeChange[] {
  return [...applied(comparison), ...removed(comparison)];
}

function applied(comparison: EdgeComparison): readonly EdgeChange[] {
  const { wanted, objects, present, mayHeal } = comparison;
  const stays = stayingObjects(wanted);
  return [...objects].flatMap(([key, those]): EdgeChange[] => {
    const found = present.get(key);
    const isFree = found === undefined || !stays(found);
    const own = those.find(
      ({ object }) => found === undefined || !isOfOther(found, gatewayOf(object)),
    );
    const chosen = own ?? (isFree ? those[0] : undefined);
    if (chosen === undefined) return [];
    const { unless, ...each } = chosen;
    const change: EdgeChange = { kind: 'apply', key, isPresent: found !== undefined, ...each };
    if (found === undefined && unless !== undefined && hasAddress(present, unless)) return [];
    if (found === undefined || appliedHash(found) !== appliedHash(each.object)) return [change];
    return holds(found, each.object) || !mayHeal(key, found) ? [] : [change];
  });
}

function hasAddress(
  present: EdgeComparison['present'],
  { key, clusterIP }: NonNullable<WantedObject['unless']>,
): boolean {
  const service = present.get(key);
  return service !== undefined && clusterAddresses(service).some(each => isSame(each, clusterIP));
}

function removed({ wanted, objects, present }: EdgeComparison): readonly EdgeChange[] {
  const stays = stayingObjects(wanted);
  return [...present].flatMap(([key, object]): EdgeChange[] => {
    const isLeaving = object.metadata.deletionTimestamp !== undefined;
    if (objects.has(key) || isLeaving || stays(object)) return [];
    return [{ kind: 'delete', key, object, gateways: [], isPresent: true }];
  });
}

/** The Service of a Gateway without a port stays, because its address would be lost. */
function stayingObjects({ gateways, kept }: WantedEdges): (object: KubernetesObject) => boolean {
  const closed = new Set(gateways.filter(({ ports }) => ports.length === 0).map(gatewayIdOf));
  const namespaces = new Set([...kept.keys()].map(id => id.split('/')[1]));
  return ({ kind, metadata: { namespace, annotations } }) => {
    if (kind === 'ConfigMap') return namespaces.has(namespace);
    const gateway = annotations?.[GATEWAY_ANNOTATION] ?? '';
    return kept.has(gateway) || (kind === 'Service' && closed.has(gateway));
  };
}

/** Whether an object was made for the same Gateway, or for those of the namespace, as this one. */
export function isOurs(object: KubernetesObject, wanted: KubernetesObject): boolean {
  const madeFor = ({ metadata: { labels = {}, annotations = {} } }: KubernetesObject) =>
    `${labels[EDGES_LABEL]} ${annotations[GATEWAY_ANNOTATION]}`;
  return madeFor(object) === madeFor(wanted);
}

/** Returns whether an object was made for another Gateway than the one with this id. */
export function isOfOther(object: KubernetesObject, id: string | undefined): boolean {
  const gateway = gatewayOf(object);
  return gateway !== undefined && gateway !== id;
}

/** Returns the id of the Gateway that an object was made for. */
function gatewayOf({ metadata }: KubernetesObject): string | undefined {
  return metadata.annotations?.[GATEWAY_ANNOTATION];
}

function marked(object: KubernetesObject): KubernetesObject {
  const hash = createHash('sha256').update(JSON.stringify(object)).digest('hex').slice(0, 16);
  const annotations = { ...object.metadata.annotations, [APPLIED]: hash };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function appliedHash({ metadata }: KubernetesObject): string | undefined {
  return metadata.annotations?.[APPLIED];
}
