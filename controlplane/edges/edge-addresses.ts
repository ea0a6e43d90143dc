import type { Fault } from '#controlplane/gateway-api/condition.ts';
import { isRecord, type KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { CLUSTER, isAnywhere } from '#resources/kinds/gateway/routability.ts';
import { canonicalAddress } from '#resources/words/ip-address.ts';
import type { AskedAddress } from './edge-gateway.ts';

/** An address as the status of a Gateway has it. */
export type EdgeAddress = {
  readonly type: 'IPAddress' | 'Hostname';
  readonly value: string;
  /** From where it is reached. Empty: nothing is promised. */
  readonly routability: string;
};

export type EdgeAddresses = {
  /** Where clients reach the Gateway. One for each that it asks for and has, if it asks for any. */
  readonly addresses: readonly EdgeAddress[];
  /** Why it does not have the others. */
  readonly missing: readonly Fault[];
};

/** What is said of an address that the cluster may still assign. */
export const NOT_ASSIGNED = 'the cluster has not assigned an address yet, so no client reaches it';

/** A Service of a Gateway, as far as it exists. */
export type KnownService = {
  readonly object: KubernetesObject | undefined;
  /** The ClusterIP that it asks for. */
  readonly clusterIP?: string | undefined;
  /** Why it cannot be made. */
  readonly rejected?: string | undefined;
};

/** An address of a Service. */
type Had = EdgeAddress & {
  /** Whether it may stand for one from anywhere. */
  readonly isOpen: boolean;
};

/**
 * Returns the addresses of a Gateway's Services, of which the first is the main one. Each that is
 * asked for gets one of its own. Those of certain values choose first. A ClusterIP stands for one
 * from anywhere where the main Service has no balancer. Source: GEP-5093, "Spec Semantics".
 */
export function edgeAddresses(
  services: readonly KnownService[],
  asked: readonly AskedAddress[],
): EdgeAddresses {
  const main = services[0]?.object;
  if (asked.length === 0) return { addresses: main ? published(main) : [], missing: [] };
  const isOpen = main !== undefined && !isBalanced(main);
  const inside = services.flatMap(({ object }) => (object ? clusterAddresses(object) : []));
  const left = new Set<Had>([
    ...(main ? published(main) : []).flatMap(each =>
      each.routability === CLUSTER ? [] : [{ ...each, isOpen: true }],
    ),
    ...inside.map(value => ({ ...ofCluster(value), isOpen })),
  ]);
  // By its place, since the same may be asked for twice.
  const found = new Map<number, EdgeAddress>();
  for (const [index, each] of [...asked.entries()].sort(([, a], [, b]) => choice(a) - choice(b))) {
    const had = [...left].find(address => satisfies(address, each));
    if (had === undefined) continue;
    left.delete(had);
    found.set(index, toAddress(had, each));
  }
  return {
    addresses: asked.flatMap((_, index) => found.get(index) ?? []),
    missing: asked.flatMap((each, index) =>
      found.has(index) ? [] : [faultOf(each, index, whyNot(each, services))],
    ),
  };
}

/** A later one takes what is left. */
function choice({ routability, value }: AskedAddress): number {
  if (value !== undefined) return 0;
  return routability === CLUSTER ? 1 : 2;
}

function satisfies(
  { isOpen, routability, type, value }: Had,
  { routability: wanted, value: exact }: AskedAddress,
): boolean {
  if (type !== 'IPAddress' || (exact !== undefined && !isSame(value, exact))) return false;
  return wanted === CLUSTER ? routability === CLUSTER : isAnywhere(wanted) && isOpen;
}

/** An address that is asked for by value is written as it was asked for. */
function toAddress(
  { routability, type, value }: Had,
  { routability: wanted, value: exact = value }: AskedAddress,
): EdgeAddress {
  return { type, value: exact, routability: wanted === '' ? routability : wanted };
}

/** Returns what the API said of the Service that was to have the address. */
function whyNot({ value }: AskedAddress, services: readonly KnownService[]): string {
  const found = services.find(({ clusterIP, rejected }) => {
    const isMeant = clusterIP === undefined ? value === undefined : isSame(clusterIP, value ?? '');
    return rejected !== undefined && isMeant;
  });
  return found === undefined ? '' : `: ${found.rejected}`;
}

function faultOf({ routability, value }: AskedAddress, index: number, why: string): Fault {
  const field = `spec.addresses[${index}]`;
  const none = (message: string) => ({ reason: 'AddressNotAssigned', field, message });
  if (routability === CLUSTER) {
    const message = value === undefined ? NO_CLUSTER_IP : `${value} cannot be had as a ClusterIP`;
    return none(`${message}${why}`);
  }
  if (!isAnywhere(routability))
    return none(`no address of routability ${routability} can be had here. ${REMEDY}`);
  if (value === undefined) return none(NOT_ASSIGNED);
  const message = `${value} cannot be had. Ask for an address that is free`;
  return { reason: 'AddressNotUsable', field, message };
}

const NO_CLUSTER_IP = 'the cluster has not assigned a ClusterIP yet';
const REMEDY = 'Write Cluster, or leave it out';

/** Returns the addresses of a Service by which clients are to reach it. */
function published(service: KubernetesObject): readonly EdgeAddress[] {
  if (isBalanced(service)) return balanced(service.status);
  const { externalIPs } = isRecord(service.spec) ? service.spec : {};
  return [
    ...texts(externalIPs).map(value => ({ type: 'IPAddress', value, routability: '' }) as const),
    ...clusterAddresses(service).map(ofCluster),
  ];
}

function isBalanced({ spec }: KubernetesObject): boolean {
  return isRecord(spec) && spec.type === 'LoadBalancer';
}

/** Returns the ClusterIPs of a Service. */
export function clusterAddresses({ spec }: KubernetesObject): readonly string[] {
  return texts(isRecord(spec) ? spec.clusterIPs : []).filter(address => address !== 'None');
}

function ofCluster(value: string): EdgeAddress {
  return { type: 'IPAddress', value, routability: CLUSTER };
}

function balanced(status: unknown): readonly EdgeAddress[] {
  const { loadBalancer } = isRecord(status) ? status : {};
  const { ingress } = isRecord(loadBalancer) ? loadBalancer : {};
  if (!Array.isArray(ingress)) return [];
  return ingress.filter(isRecord).flatMap(({ ip, hostname }): EdgeAddress[] => {
    if (typeof ip === 'string') return [{ type: 'IPAddress', value: ip, routability: '' }];
    return typeof hostname === 'string'
      ? [{ type: 'Hostname', value: hostname, routability: '' }]
      : [];
  });
}

function texts(values: unknown): readonly string[] {
  return Array.isArray(values) ? values.filter(each => typeof each === 'string') : [];
}

/** Returns whether two texts are one address. */
export function isSame(one: string, other: string): boolean {
  return (canonicalAddress(one) ?? one) === (canonicalAddress(other) ?? other);
}
