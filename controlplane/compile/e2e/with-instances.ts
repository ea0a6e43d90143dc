import type { JsonObject } from '#protos/json.ts';

type Cluster = { name: string; load_assignment?: { endpoints: [{ lb_endpoints: object[] }] } };
type Bootstrap = { static_resources: { clusters: Cluster[] } };

/**
 * Returns a change of a bootstrap. The clusters of the first of these addresses get all of them, as
 * if a name stood for them.
 */
export function withInstances([first = '', ...others]: readonly string[]): (
  bootstrap: JsonObject,
) => JsonObject {
  return bootstrap => {
    const changed = structuredClone(bootstrap) as unknown as Bootstrap;
    for (const { name, load_assignment } of changed.static_resources.clusters) {
      if (name.split('~')[0] === first)
        load_assignment?.endpoints[0].lb_endpoints.push(...others.map(toEndpoint));
    }
    return changed as unknown as JsonObject;
  };
}

function toEndpoint(hostPort: string): object {
  const [address, port] = hostPort.split(':');
  return { endpoint: { address: { socket_address: { address, port_value: Number(port) } } } };
}
