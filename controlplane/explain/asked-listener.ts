import type { Compiled, CompiledResource } from '#controlplane/compile/compiled.ts';
import { isJsonObject, type JsonObject, objectsIn } from '#protos/json.ts';
import { LISTENER } from '#protos/type-url.ts';
import type { ClientRequest } from './client-request.ts';

/**
 * Returns the listener that a request reaches: the one of its port, else the only one of its kind,
 * else the one whose routes have the name of the node group, else that of the first Listener. So a
 * URL need not have the port of an edge behind a load balancer.
 * @returns undefined when nothing listens for such requests
 */
export function askedListener(
  { resources }: Compiled,
  nodeGroup: string,
  { authority, serverName }: Pick<ClientRequest, 'authority' | 'serverName'>,
): CompiledResource | undefined {
  const secure = serverName !== undefined;
  const candidates = (resources.get(LISTENER) ?? []).filter(
    ({ json }) => managersOf(json, secure).length > 0,
  );
  const written = /:(\d+)$/.exec(authority)?.[1] ?? (secure ? '443' : '80');
  const ofGroup = candidates.find(({ json }) =>
    managersOf(json, secure).map(tableOf).includes(nodeGroup),
  );
  return (
    candidates.find(({ json }) => portOf(json) === Number(written)) ??
    (candidates.length === 1 ? candidates[0] : ofGroup) ??
    candidates.find(({ origins }) => origins[0]?.startsWith('Listener/'))
  );
}

/** Returns the name of the routes of a connection manager. */
export function tableOf({ rds }: JsonObject): string {
  return isJsonObject(rds) ? String(rds.route_config_name) : '';
}

/** Returns the connection managers of a listener's filter chains, over TLS or without. */
export function managersOf({ filter_chains }: JsonObject, secure: boolean): readonly JsonObject[] {
  return objectsIn(filter_chains)
    .filter(chain => isSecure(chain) === secure)
    .map(managerOf)
    .filter(manager => manager !== undefined);
}

/** @returns undefined when the chain does not speak HTTP */
export function managerOf({ filters }: JsonObject): JsonObject | undefined {
  const manager = objectsIn(filters).find(({ name }) => name === HTTP);
  return isJsonObject(manager?.typed_config) ? manager.typed_config : undefined;
}

const HTTP = 'envoy.filters.network.http_connection_manager';

/** Mutual TLS between proxies is not what a client asks for. */
function isSecure({ filter_chain_match: match }: JsonObject): boolean {
  return isJsonObject(match) && match.transport_protocol === 'tls';
}

function portOf({ address }: JsonObject): number {
  const socket = isJsonObject(address) ? address.socket_address : undefined;
  return isJsonObject(socket) ? Number(socket.port_value) : 0;
}
