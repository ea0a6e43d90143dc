import { parse, stringify } from 'yaml';
import { instanceName, loopback } from './parts.ts';
import { instancePorts } from './ports.ts';

/** The service name under which the discovery service knows the instances. */
export const SERVICE = 'user-service';

/**
 * Returns the resource that routes all requests at the proxy beside instance `number` to that
 * instance, as YAML.
 */
export function proxyConfig(portOffset: number, number: number): string {
  const name = instanceName(number);
  const { proxy, service } = instancePorts(portOffset, number);
  return stringify({
    apiVersion: 'gateway.internal/v2',
    kind: 'ProxyConfig',
    metadata: { name },
    spec: {
      node_group: name,
      listener: { address: '127.0.0.1', port: proxy },
      virtual_hosts: [
        { name, domains: ['*'], routes: [{ prefix: '/', cluster: SERVICE, timeout_ms: 0 }] },
      ],
      clusters: [
        {
          name: SERVICE,
          type: 'static',
          lb_type: 'round_robin',
          connect_timeout_ms: 250,
          hosts: [{ url: `tcp://${loopback(service)}` }],
        },
      ],
    },
  });
}

const HEAD =
  '# Written by the gateway, again and again. Services of your own: npm start -- --services <file>\n';

/**
 * Returns the instances file of the discovery service. By it the edge reaches the proxies beside
 * these instances.
 */
export function instancesFile(portOffset: number, numbers: readonly number[]): string {
  const instances = numbers.map(number => ({
    address: '127.0.0.1',
    port: instancePorts(portOffset, number).proxy,
    hostname: instanceName(number),
  }));
  return HEAD + stringify({ services: { [SERVICE]: instances } });
}

/** Tells whether an instances file holds what the gateway did not write. A damaged file does. */
export function holdsMore(content: string): boolean {
  try {
    return Object.keys(parse(content).services).some(name => name !== SERVICE);
  } catch {
    return true;
  }
}
