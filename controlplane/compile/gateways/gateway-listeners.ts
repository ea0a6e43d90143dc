import type { ListenerTls, ServedListener } from '#controlplane/gateway-api/served-gateway.ts';
import type { JsonObject } from '#protos/json.ts';
import { DEFAULT_TLS_SETTINGS } from '#resources/traffic/tls-settings.ts';
import { secretConfig } from '../clusters/secret-config.ts';
import { tlsParameters } from '../clusters/tls-parameters.ts';
import { coveringDomains } from '../domain-cover.ts';
import { extension } from '../extension.ts';
import { type Chain, END, httpFilter } from '../listeners/listener.ts';
import { bundle } from './backend-cluster.ts';
import { keyPairName } from './key-pair-name.ts';
import { type StreamRoute, tcpProxy, udpProxy } from './stream-proxies.ts';

/**
 * Returns the `HttpConnectionManager` of one listener's connections, or of all that a port has
 * without TLS.
 */
export type ManagerOf = (listener: ServedListener | undefined) => JsonObject;

/**
 * Returns what happens to the connections of one port of a Gateway. Those for the hosts of `closed`
 * end at once.
 */
export function tcpChains(
  listeners: readonly ServedListener[],
  closed: readonly string[],
  managerOf: ManagerOf,
): readonly Chain[] {
  const overTls = listeners.some(({ protocol }) => protocol === 'HTTPS' || protocol === 'TLS');
  return overTls ? tlsChains(listeners, closed, managerOf) : [plainChain(listeners, managerOf)];
}

function plainChain(listeners: readonly ServedListener[], managerOf: ManagerOf): Chain {
  const [first] = listeners;
  if (first?.protocol !== 'TCP') return { filters: [httpFilter(managerOf(undefined))] };
  const [route] = streamsOf(first);
  return { filters: [route === undefined ? END : tcpProxy(first.id, route)] };
}

/** Of two chains for one name the first counts: that of the older route, or of HTTPS. */
function tlsChains(
  listeners: readonly ServedListener[],
  closed: readonly string[],
  managerOf: ManagerOf,
): readonly Chain[] {
  const chains = new Map<string, Chain>();
  const add = (hostname: string, chain: Chain) => {
    if (!chains.has(hostname)) chains.set(hostname, { ...chain, hostname });
  };
  const hosts = new Set([...listeners.map(({ hostname }) => hostname), ...closed]);
  const ownerOf = (name: string) => coveringDomains(name).find(cover => hosts.has(cover));
  for (const listener of listeners)
    for (const [name, chain] of chainsOf(listener, managerOf))
      if (ownerOf(name) === listener.hostname) add(name, chain);
  // What a listener has no route for, or cannot serve, must not fall to a wider listener.
  for (const hostname of hosts) if (hostname !== '*') add(hostname, { filters: [END] });
  // Envoy accepts no listener without a chain.
  if (chains.size === 0) add('*', { filters: [END] });
  return [...chains.values()];
}

function chainsOf(
  listener: ServedListener,
  managerOf: ManagerOf,
): readonly (readonly [hostname: string, chain: Chain])[] {
  const { hostname, protocol, tls } = listener;
  if (protocol === 'HTTPS')
    return [
      [
        hostname,
        {
          transportSocket: downstreamTls(tls, HTTP_ALPN),
          filters: [httpFilter(managerOf(listener))],
        },
      ],
    ];
  return streamsByName(streamsOf(listener)).map(([name, route]) => {
    const filters = [tcpProxy(listener.id, route)];
    const transportSocket = downstreamTls(tls, []);
    return [name, tls?.mode === 'Terminate' ? { transportSocket, filters } : { filters }] as const;
  });
}

/**
 * Returns the route of each name. Of several the one with the narrower hostname of its own counts,
 * whatever the listener makes of it, then the older one.
 */
function streamsByName(
  routes: readonly StreamRoute[],
): readonly (readonly [name: string, route: StreamRoute])[] {
  const found = new Map<string, readonly StreamRoute[]>();
  for (const route of routes)
    for (const name of route.hostnames) found.set(name, [...(found.get(name) ?? []), route]);
  return [...found].flatMap(([name, all]) => {
    const covering = coveringDomains(name);
    const [first] = all.toSorted((a, b) => ownRank(a, covering) - ownRank(b, covering));
    return first === undefined ? [] : [[name, first] as const];
  });
}

/** Returns how far the narrowest of the route's own hostnames is from the name. */
function ownRank({ route }: StreamRoute, covering: readonly string[]): number {
  const own: readonly string[] = 'hostnames' in route.spec ? route.spec.hostnames : [];
  const at = covering.findIndex(hostname => own.includes(hostname));
  return at < 0 ? covering.length : at;
}

function streamsOf({ routes }: ServedListener): readonly StreamRoute[] {
  return routes.flatMap(route =>
    route.kind === 'TLSRoute' || route.kind === 'TCPRoute' ? [route] : [],
  );
}

const HTTP_ALPN = ['h2', 'http/1.1'];

/** A resumed session would not prove that the client's certificate is still valid. */
function downstreamTls(
  tls: ListenerTls | undefined,
  alpn_protocols: readonly string[],
): JsonObject {
  const { certificates = [], clients } = tls ?? {};
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: extension('transport_sockets.tls.v3.DownstreamTlsContext', {
      common_tls_context: {
        tls_params: tlsParameters(DEFAULT_TLS_SETTINGS),
        tls_certificate_sds_secret_configs: certificates.map(each =>
          secretConfig(keyPairName(each)),
        ),
        ...(clients === undefined
          ? {}
          : {
              validation_context: {
                trusted_ca: { inline_string: bundle(clients.authorities) },
                ...(clients.mode === 'AllowInsecureFallback'
                  ? { trust_chain_verification: 'ACCEPT_UNTRUSTED' }
                  : {}),
              },
            }),
        ...(alpn_protocols.length === 0 ? {} : { alpn_protocols }),
      },
      ...(clients === undefined
        ? {}
        : {
            require_client_certificate: clients.mode === 'AllowValidOnly',
            disable_stateless_session_resumption: true,
            disable_stateful_session_resumption: true,
          }),
    }),
  };
}

/**
 * Returns what happens to the datagrams of one port of a Gateway.
 * @returns undefined when they are dropped, since no route has the port
 */
export function udpDatagrams([listener]: readonly ServedListener[]): JsonObject | undefined {
  const [route] = (listener?.routes ?? []).flatMap(each =>
    each.kind === 'UDPRoute' ? [each] : [],
  );
  return route === undefined ? undefined : udpProxy(listener?.id ?? '', route);
}
