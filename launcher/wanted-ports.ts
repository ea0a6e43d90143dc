import { parseAddress } from '#process/environment.ts';
import { type EdgeAddresses, edgeAddresses, instanceName } from './parts.ts';
import type { WantedPort } from './port-check.ts';
import { instancePorts, portsAt } from './ports.ts';

/**
 * Returns the ports that a gateway of so many instances listens on, and what for. `provider` is
 * whether the sample's provider runs. Throws an Error that names a variable that is no address.
 */
export function wantedPorts(
  portOffset: number,
  instances: number,
  provider: boolean,
  edge?: EdgeAddresses,
): readonly WantedPort[] {
  const ports = portsAt(portOffset);
  const numbers = Array.from({ length: instances }, (_, index) => index + 1);
  return [
    ...edgeWantedPorts(portOffset, edge),
    { port: ports.http, what: 'the control plane (HTTP)' },
    { port: ports.xds, what: 'the control plane (xDS)' },
    { port: ports.sds, what: 'the discovery service' },
    { port: ports.rateLimit, what: 'the rate limit service' },
    { port: ports.extAuthz, what: 'the authorization service' },
    ...(provider ? [{ port: ports.identityProvider, what: 'the identity provider' }] : []),
    { port: ports.edgeAdmin, what: "the edge Envoy's admin interface" },
    { port: ports.edgeStats, what: "the edge Envoy's metrics" },
    ...numbers.flatMap(number => instanceWantedPorts(portOffset, number)),
  ];
}

function edgeWantedPorts(portOffset: number, given?: EdgeAddresses): readonly WantedPort[] {
  const ports = portsAt(portOffset);
  const usual = edgeAddresses({ demo: true, environment: {}, ports });
  return [
    ['EDGE_ADDRESS', 'the edge'] as const,
    ['EDGE_TLS_ADDRESS', 'the edge (https)'] as const,
  ].map(([variable, what]) => {
    const address = given?.[variable] ?? usual[variable];
    const { host, port } = parseAddress(variable, address);
    return { host, port, what, ...(address !== usual[variable] && { variable }) };
  });
}

/** Returns the ports of one instance and the proxy beside it. */
export function instanceWantedPorts(portOffset: number, number: number): readonly WantedPort[] {
  const { proxy, service } = instancePorts(portOffset, number);
  return [
    { port: proxy, what: `the proxy of ${instanceName(number)}` },
    { port: service, what: instanceName(number) },
  ];
}
