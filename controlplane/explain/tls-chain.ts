import type { Compiled } from '#controlplane/compile/compiled.ts';
import { coveringDomains } from '#controlplane/compile/domain-cover.ts';
import { HOST_HEADER } from '#controlplane/compile/tls/host-header.ts';
import { isJsonObject, type JsonObject, objectsIn } from '#protos/json.ts';
import { LISTENER } from '#protos/type-url.ts';
import type { ResourceSet } from '#resources/resource-set.ts';

/**
 * The filter chain of a TLS connection. `host` is the id of its Host. `mark` is what the chain
 * tells routes.
 */
export type TlsChain = { readonly mark: string; readonly host: string };

/** Why a TLS connection fails. */
export type NoTls = { readonly reason: string };

/**
 * Returns the filter chain for this server name. `''` is a connection without one. It is the Host's
 * of that name, else of the longest wildcard that covers it, else of `*`. Source: Envoy's page
 * "FilterChainMatch".
 */
export function chainOf(
  { resources }: Compiled,
  { hosts }: ResourceSet,
  serverName: string,
): TlsChain | NoTls {
  const listener = resources.get(LISTENER)?.find(({ json }) => json.listener_filters !== undefined);
  if (listener === undefined) return { reason: 'nothing listens for TLS, since no Host has it' };
  const chains = new Map(
    objectsIn(listener.json.filter_chains).map(chain => [String(chain.name), chain]),
  );
  const wanted = serverName === '' ? ['*'] : coveringDomains(serverName);
  const hostname = wanted.find(name => chains.has(name));
  const chain = hostname === undefined ? undefined : chains.get(hostname);
  if (hostname === undefined || chain === undefined)
    return {
      reason: `no Host has TLS for ${serverName === '' ? 'a client without a server name' : serverName}`,
    };
  if (chain.transport_socket === undefined)
    return { reason: `the Host of ${hostname} cannot speak TLS, see its problems` };
  const owner = hosts.find(({ spec }) => spec.hostname === hostname);
  return { mark: markOf(chain), host: owner?.id ?? hostname };
}

/** Returns what its `early_header_mutation_extensions` set. */
function markOf({ filters }: JsonObject): string {
  const [manager] = objectsIn(filters).map(({ typed_config }) => typed_config);
  const extensions = isJsonObject(manager)
    ? objectsIn(manager.early_header_mutation_extensions)
    : [];
  const mutations = extensions.flatMap(({ typed_config }) =>
    isJsonObject(typed_config) ? objectsIn(typed_config.mutations) : [],
  );
  const headers = mutations.flatMap(({ append }) => (isJsonObject(append) ? append.header : []));
  const [header] = headers.filter(isJsonObject).filter(({ key }) => key === HOST_HEADER);
  return String(header?.value);
}
