import type { CompiledResource } from '#controlplane/compile/compiled.ts';
import { coveringDomains } from '#controlplane/compile/domain-cover.ts';
import { HOST_HEADER } from '#controlplane/compile/tls/host-header.ts';
import { type JsonObject, objectsIn } from '#protos/json.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { managerOf } from './asked-listener.ts';
import { earlyHeader } from './listener-settings.ts';

/**
 * The filter chain of a TLS connection. `host` is the id of its Host, or of the Gateway or
 * ListenerSet that has its listener. `mark` is what the chain tells routes.
 */
export type TlsChain = {
  readonly mark: string;
  readonly host: string;
  readonly manager: JsonObject;
};

/** Why a TLS connection fails. */
export type NoTls = { readonly reason: string };

/**
 * Returns the filter chain for this server name. `''` is a connection without one. It is the Host's
 * of that name, else of the longest wildcard that covers it, else of `*`. Source: Envoy's page
 * "FilterChainMatch".
 */
export function chainOf(
  listener: CompiledResource | undefined,
  { hosts }: ResourceSet,
  serverName: string,
): TlsChain | NoTls {
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
  const manager = managerOf(chain);
  const owner = ownerOf(listener, hostname, hosts);
  if (manager === undefined && owner.gateway)
    return { reason: `the connection for ${hostname} is not one of HTTP, see ${owner.id}` };
  if (manager === undefined || chain.transport_socket === undefined)
    return { reason: `the Host of ${hostname} cannot speak TLS, see its problems` };
  return { mark: String(earlyHeader(manager, HOST_HEADER)), host: owner.id, manager };
}

function ownerOf(
  { origins }: CompiledResource,
  hostname: string,
  hosts: ResourceSet['hosts'],
): { readonly id: string; readonly gateway: boolean } {
  const gateway = origins.find(id => /^(Gateway|ListenerSet)\//.test(id));
  if (gateway !== undefined) return { id: gateway, gateway: true };
  const host = hosts.find(({ spec }) => spec.hostname === hostname);
  return { id: host?.id ?? hostname, gateway: false };
}
