import { objectKey } from '#kubernetes/kubernetes-object.ts';
import type { KubeApiserver } from '#kubernetes/testing/kube-apiserver.ts';
import { patchObject } from '#kubernetes/write.ts';
import type { PodNetwork } from '../pod-network.ts';
import type { Condition, FollowedServices, ServiceObject } from './followed-services.ts';
import { startForwarding } from './forwarding.ts';

export type ServiceAddressesOptions = {
  readonly api: KubeApiserver;
  readonly network: PodNetwork;
  readonly followed: FollowedServices;
  onError(error: unknown): void;
};

export type ServiceAddresses = {
  /** Does what has become necessary since the last call. */
  update(): void;
  close(): Promise<void>;
};

/**
 * Makes the addresses of Services lead to their ready endpoints, as kube-proxy does. It gives those
 * of type LoadBalancer an address. Endpoints see this machine as the client.
 */
export function serveServiceAddresses(options: ServiceAddressesOptions): ServiceAddresses {
  const { network, followed, onError } = options;
  const balanced = new Map<string, string>();
  const answered = new Set<string>();
  const forwarded = new Set<string>();
  const forwarding = startForwarding(onError);

  const ports = () =>
    new Map([...followed.services.values()].flatMap(each => portsOf(each, balanced)));
  const tellEndpoints = () => {
    const known = [...ports()].map(([key, { service, name }]) => {
      const are = (condition: Condition) => followed.endpoints(service, name, condition);
      return [key, { ready: are('ready'), serving: are('serving') }] as const;
    });
    forwarding.update(new Map(known));
  };
  const reconcile = async () => {
    balance(options, balanced);
    const wanted = ports();
    for (const key of forwarded) {
      if (wanted.has(key)) continue;
      forwarded.delete(key);
      forwarding.close(key);
    }
    tellEndpoints();
    const addresses = new Set([...wanted.values()].map(({ address }) => address));
    for (const address of answered) {
      if (addresses.has(address)) continue;
      answered.delete(address);
      await network.stopAnsweringTo(address);
    }
    for (const address of addresses) {
      if (answered.has(address)) continue;
      answered.add(address);
      await network.answerTo(address);
    }
    for (const [key, { address, port, protocol }] of wanted) {
      if (forwarded.has(key)) continue;
      await forwarding.open(key, { address, port }, protocol);
      forwarded.add(key);
    }
    await tell(options, balanced);
  };

  let working = Promise.resolve();
  const update = () => {
    // Work on addresses may take a while, and endpoints that have ended must not wait for it.
    tellEndpoints();
    working = working.then(reconcile).catch(onError);
  };
  return {
    update,
    async close() {
      await working;
      await forwarding.end();
    },
  };
}

/** Gives each balanced Service an address: the one that it asks for, unless another has it. */
function balance({ network, followed }: ServiceAddressesOptions, balanced: Map<string, string>) {
  const asked = (service: ServiceObject | undefined) => service?.spec.loadBalancerIP;
  for (const [key, address] of balanced) {
    const service = followed.services.get(key);
    const isSame = asked(service) === undefined || asked(service) === address;
    if (service?.spec.type === 'LoadBalancer' && isSame) continue;
    balanced.delete(key);
    if (asked(service) !== address) network.release(address);
  }
  for (const [key, service] of followed.services) {
    if (service.spec.type !== 'LoadBalancer' || balanced.has(key)) continue;
    const address = asked(service) ?? network.reserve();
    const isTaken = [...balanced.values()].includes(address);
    if (network.contains(address) && !isTaken) balanced.set(key, address);
  }
}

/** Returns the ports of all addresses of a Service, by a key of their own. */
function portsOf(service: ServiceObject, balanced: ReadonlyMap<string, string>) {
  const { clusterIP, ports = [] } = service.spec;
  const own =
    clusterIP === undefined || clusterIP === '' || clusterIP === 'None' ? [] : [clusterIP];
  const given = balanced.get(objectKey(service));
  return [...own, ...(given === undefined ? [] : [given])].flatMap(address =>
    ports
      .filter(({ protocol }) => protocol !== 'SCTP')
      .map(({ port, protocol, name }) => {
        const key = `${objectKey(service)} ${address} ${protocol} ${port} ${name ?? ''}`;
        return [key, { address, port, protocol, service, name }] as const;
      }),
  );
}

/** Writes the addresses of balancers into the status of their Services. */
async function tell({ api, followed }: ServiceAddressesOptions, balanced: Map<string, string>) {
  for (const [key, service] of followed.services) {
    if (service.spec.type !== 'LoadBalancer') continue;
    const address = balanced.get(key);
    if (service.status?.loadBalancer?.ingress?.[0]?.ip === address) continue;
    const { name, namespace } = service.metadata;
    const resource = { group: '', version: 'v1', plural: 'services', namespace };
    const ingress = address === undefined ? null : [{ ip: address, ipMode: 'VIP' }];
    await patchObject({ cluster: api.admin, resource, part: 'status' }, name, {
      status: { loadBalancer: { ingress } },
    });
  }
}
