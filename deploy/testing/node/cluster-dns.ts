import type { Answer } from 'dns-packet';
import { type DnsServer, startDnsServer } from '../../../sds/testing/dns-server.ts';
import type { FollowedServices, ServiceObject } from './followed-services.ts';

export type ClusterDns = {
  /** Returns `resolv.conf` of the pods of a namespace. */
  resolvConf(namespace: string): string;
  /** Answers with what the Services are now. */
  update(followed: FollowedServices): void;
  close(): void;
};

const DOMAIN = 'svc.cluster.local';
const PORT = 53;

/** Answers the names of Services. Source: Kubernetes' page "DNS for Services and Pods". */
export async function startClusterDns(address: string): Promise<ClusterDns> {
  const { zone, close } = await startDnsServer(address, PORT);
  return {
    resolvConf: namespace =>
      [
        `nameserver ${address}`,
        `search ${namespace}.${DOMAIN} ${DOMAIN} cluster.local`,
        'options ndots:5',
        '',
      ].join('\n'),
    update: followed => void fill(zone, followed),
    close,
  };
}

function fill(zone: DnsServer['zone'], followed: FollowedServices): void {
  zone.clear();
  for (const service of followed.services.values()) {
    const { name, namespace } = service.metadata;
    const addresses = addressesOf(service, followed);
    if (addresses.length > 0) {
      const fullName = `${name}.${namespace}.${DOMAIN}`;
      zone.set(
        fullName,
        addresses.map((data): Answer => ({ type: 'A', name: fullName, ttl: 1, data })),
      );
    }
  }
}

function addressesOf(service: ServiceObject, followed: FollowedServices): readonly string[] {
  const { clusterIP = '' } = service.spec;
  if (clusterIP === 'None') return followed.addresses(service);
  return clusterIP === '' ? [] : [clusterIP];
}
