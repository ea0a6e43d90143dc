import { isRecord, type KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { canonicalAddress } from '#resources/words/ip-address.ts';

/** An address as the status of a Gateway has it. */
export type EdgeAddress = { readonly type: 'IPAddress' | 'Hostname'; readonly value: string };

export type EdgeAddresses = {
  /** Where clients reach the Gateway. Only those asked for, where it asks for some. */
  readonly addresses: readonly EdgeAddress[];
  /** The addresses that it asks for and does not have. */
  readonly missing: readonly string[];
};

/** Returns the addresses of a Service, of those asked for if there are any. */
export function edgeAddresses(
  service: KubernetesObject | undefined,
  asked: readonly string[],
): EdgeAddresses {
  const found = service === undefined ? [] : addressesOf(service);
  if (asked.length === 0) return { addresses: found, missing: [] };
  const has = (value: string) => found.some(each => isSame(each.value, value));
  return {
    addresses: asked.filter(has).map(value => ({ type: 'IPAddress', value })),
    missing: asked.filter(value => !has(value)),
  };
}

function addressesOf({ spec, status }: KubernetesObject): readonly EdgeAddress[] {
  const { type, clusterIPs, externalIPs } = isRecord(spec) ? spec : {};
  if (type === 'LoadBalancer') return balanced(status);
  const inside = texts(clusterIPs).filter(address => address !== 'None');
  return [...texts(externalIPs), ...inside].map(value => ({ type: 'IPAddress', value }));
}

function balanced(status: unknown): readonly EdgeAddress[] {
  const { loadBalancer } = isRecord(status) ? status : {};
  const { ingress } = isRecord(loadBalancer) ? loadBalancer : {};
  if (!Array.isArray(ingress)) return [];
  return ingress.filter(isRecord).flatMap(({ ip, hostname }): EdgeAddress[] => {
    if (typeof ip === 'string') return [{ type: 'IPAddress', value: ip }];
    return typeof hostname === 'string' ? [{ type: 'Hostname', value: hostname }] : [];
  });
}

function texts(values: unknown): readonly string[] {
  return Array.isArray(values) ? values.filter(each => typeof each === 'string') : [];
}

function isSame(one: string, other: string): boolean {
  return (canonicalAddress(one) ?? one) === (canonicalAddress(other) ?? other);
}
