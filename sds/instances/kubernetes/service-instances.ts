import { isIPv4 } from 'node:net';
import type { Instance } from '../instance.ts';
import { ANY_PORT, NO_SUCH_PORT } from '../instances-named.ts';
import type { Slice, SliceEndpoint, SlicePort } from './endpoint-slice.ts';
import type { ServicePort } from './service-ports.ts';

/** The port behind a service's plain name, where there are several. */
const MAIN_PORT = 'http';

/** What follows a number that TCP has too. */
const OF_UDP = '/udp';

type Placed = SliceEndpoint & Pick<Slice, 'ports' | 'udpPorts'>;

/**
 * Returns the instances of one service, by what stands behind its name.
 * - '': its main port. That is its only one, else the one named `http`, else the first one listed.
 * - `:name`: a port by name.
 * - `:number`: a port by number. The Service's number wins, as in its DNS name. Else it is the
 *   instances' number.
 *   A number of TCP wins over the same number of UDP, which is `:number/udp` then.
 * - `:*`: there when the meaning of every number is known. Of several ports none is reached by
 *   another number. An only port is reached by any.
 *
 * An endpoint that two slices have, while it moves between them, counts once. It is ready when one
 * of them says so. An instance with addresses of both families counts once, with IPv4. While one
 * endpoint of the service is ready, endpoints that will end soon are left out. They get no new
 * requests and finish what they have. When none is ready they are DRAINING, which Envoy uses only
 * when no other endpoint exists.
 */
export function serviceInstances(
  slices: readonly Slice[],
  servicePorts: readonly ServicePort[] | undefined,
): ReadonlyMap<string, readonly Instance[]> {
  const endpoints = serving(distinct(slices.flatMap(place)));
  const ports = slices.flatMap(slice => slice.ports);
  const names = new Set(ports.map(({ name }) => name));
  const numbers = new Set(ports.map(({ port }) => port));
  const main = names.has(MAIN_PORT) ? MAIN_PORT : ports[0]?.name;
  const ofMain = instancesAt(endpoints, ({ name }) => name === main);
  // One array under several names says that they are one.
  const only = names.size === 1 && numbers.size === 1;
  const named = new Map(
    [...names].map(name => [
      name,
      name === main ? ofMain : instancesAt(endpoints, port => port.name === name),
    ]),
  );
  const byPort = new Map([['', ofMain]]);
  for (const [name, instances] of named) if (name !== '') byPort.set(`:${name}`, instances);
  for (const port of numbers)
    byPort.set(`:${port}`, only ? ofMain : instancesAt(endpoints, each => each.port === port));
  const [streams, datagrams] = [undefined, true].map(udp =>
    (servicePorts ?? []).filter(port => port.udp === udp),
  );
  for (const { name, port } of streams ?? []) byPort.set(`:${port}`, named.get(name) ?? []);
  const ofTcp = new Set(byPort.keys());
  for (const [port, instances] of datagramInstances(slices, endpoints, datagrams ?? [])) {
    const name = ofTcp.has(port) ? `${port}${OF_UDP}` : port;
    if (!byPort.has(name)) byPort.set(name, instances);
  }
  if (servicePorts !== undefined && names.size > 1) byPort.set(ANY_PORT, NO_SUCH_PORT);
  return byPort;
}

/** Returns what stands behind the numbers of UDP: the Service's, and else the instances'. */
function datagramInstances(
  slices: readonly Slice[],
  endpoints: readonly Placed[],
  servicePorts: readonly ServicePort[],
): readonly (readonly [port: string, instances: readonly Instance[]])[] {
  const datagrams = endpoints.map(endpoint => ({ ...endpoint, ports: endpoint.udpPorts }));
  const numbers = new Set(slices.flatMap(({ udpPorts }) => udpPorts.map(({ port }) => port)));
  return [
    ...servicePorts.map(
      ({ name, port }) => [`:${port}`, instancesAt(datagrams, each => each.name === name)] as const,
    ),
    ...[...numbers].map(
      number => [`:${number}`, instancesAt(datagrams, ({ port }) => port === number)] as const,
    ),
  ];
}

function place({ endpoints, ports, udpPorts }: Slice): readonly Placed[] {
  return endpoints.map(endpoint => ({ ...endpoint, ports, udpPorts }));
}

/** Returns each endpoint once. Ready ones come first, and of these IPv4 first. */
function distinct(endpoints: readonly Placed[]): readonly Placed[] {
  const inOrder = endpoints.toSorted((a, b) => rank(a) - rank(b));
  const addresses = new Set<string>();
  const families = new Map<string, boolean>();
  return inOrder.filter(({ address, target, ports }) => {
    // Two slices of a service with several ports may each have some of them. The same address with
    // other ports is no duplicate.
    const key = `${address} ${ports.map(({ port }) => port).join()}`;
    const family = isIPv4(address);
    if (addresses.has(key) || (target !== undefined && (families.get(target) ?? family) !== family))
      return false;
    addresses.add(key);
    if (target !== undefined) families.set(target, family);
    return true;
  });
}

function rank({ state, address }: Placed): number {
  return (state === 'ready' ? 0 : 2) + (isIPv4(address) ? 0 : 1);
}

function serving(endpoints: readonly Placed[]): readonly Placed[] {
  const ready = endpoints.filter(({ state }) => state === 'ready');
  return ready.length > 0 ? ready : endpoints;
}

function instancesAt(
  endpoints: readonly Placed[],
  wanted: (port: SlicePort) => boolean,
): readonly Instance[] {
  return endpoints.flatMap(({ address, hostname, zone, state, ports }) => {
    const found = ports.find(wanted);
    if (found === undefined) return [];
    const locality = zone === undefined ? undefined : { zone };
    const health_status = state === 'ready' ? undefined : ('DRAINING' as const);
    return [{ address, port: found.port, hostname, health_status, locality }];
  });
}
