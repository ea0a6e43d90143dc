import { instanceName } from './parts.ts';
import type { WantedPort } from './port-check.ts';
import { instancePorts, portsAt } from './ports.ts';

/**
 * Returns the ports that a gateway of so many instances listens on, and what for. `provider` is
 * whether the sample's provider runs.
 */
export function wantedPorts(
  portOffset: number,
  instances: number,
  provider: boolean,
): readonly WantedPort[] {
  const ports = portsAt(portOffset);
  const numbers = Array.from({ length: instances }, (_, index) => index + 1);
  return [
    { port: ports.edge, what: 'the edge' },
    { port: ports.edgeTls, what: 'the edge (https)' },
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

/** Returns the ports of one instance and the proxy beside it. */
export function instanceWantedPorts(portOffset: number, number: number): readonly WantedPort[] {
  const { proxy, service } = instancePorts(portOffset, number);
  return [
    { port: proxy, what: `the proxy of ${instanceName(number)}` },
    { port: service, what: instanceName(number) },
  ];
}
