import { selects } from '#controlplane/gateway-api/label-selector.ts';
import { layersOf } from '#resources/kinds/listener/listener.ts';
import type { ModuleConfig } from '#resources/kinds/module/module.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { HostPort } from '#resources/words/host.ts';
import { compareText } from '#resources/words/order.ts';
import { EDGE } from '../node-groups.ts';
import { type CompileOptions, DEFAULT_EDGE_TLS } from '../options.ts';
import type { SecurityModel } from '../routes/host-guard.ts';
import type { EdgeHost } from '../tls/edge-hosts.ts';
import { listenerName } from './listener.ts';
import { proxyConfigPlaces } from './proxy-config-places.ts';

/** Routes of Mappings and ProxyConfigs, as some ports of the edge serve them. */
export type EdgeTable = {
  readonly table: string;
  /** The Module's settings, with the trust in proxies in front of the port. */
  readonly config: ModuleConfig;
  readonly security: SecurityModel;
  /** Returns whether a Host is reached there. */
  readonly binds: (host: EdgeHost) => boolean;
};

/** An address of the edge. */
export type EdgePort = EdgeTable & {
  readonly address: HostPort;
  /** Which connections it takes. */
  readonly takes: { readonly plain: boolean; readonly tls: boolean };
  readonly proxyProtocol: boolean;
  readonly statsPrefix?: string;
  readonly origins: readonly string[];
};

/**
 * Returns the addresses of the edge. Of several at one address the first counts. Listeners say
 * them, and without any there is one for TLS when a Host has it, and one without TLS. ProxyConfigs
 * add to the ones, and replace the others.
 */
export function edgePorts(
  resources: ResourceSet,
  hosts: readonly EdgeHost[],
  options: CompileOptions,
): readonly EdgePort[] {
  const whole = wholeTable(resources.config);
  const port = { ...whole, takes: PLAIN, proxyProtocol: false };
  const places = proxyConfigPlaces(resources, { isDefault: false });
  const added = places.map(({ address, origins }) => ({ ...port, address, origins }));
  if (resources.listeners.length > 0)
    return [...resources.listeners.map(each => listenerPort(each, whole, options)), ...added];
  const { edge, edgeTls = DEFAULT_EDGE_TLS } = options;
  const speaks = speakingTls(hosts).some(({ insecure }) => insecure !== 'closed');
  return [
    ...(speaks ? [{ ...port, address: edgeTls, takes: TLS, origins: [] }] : []),
    ...(added.length > 0 ? added : [{ ...port, address: edge, origins: [] }]),
  ];
}

const PLAIN = { plain: true, tls: false };
const TLS = { plain: false, tls: true };

/** Returns the table of all Hosts. */
export function wholeTable(config: ModuleConfig): EdgeTable {
  return { table: EDGE, config, security: 'XFP', binds: () => true };
}

/** A Listener that binds every Host, and trusts what the Module trusts, has the table of all. */
function listenerPort(
  listener: Resource<'Listener'>,
  whole: EdgeTable,
  { edge: { host } }: CompileOptions,
): EdgePort {
  const { id, spec } = listener;
  const { hostBinding, l7Depth, port, securityModel: security, statsPrefix } = spec;
  const { tls = false, proxyProtocol = false } = layersOf(spec) ?? {};
  const hops = l7Depth ?? whole.config.xff_num_trusted_hops;
  const isWhole =
    hostBinding.namespace.from === 'ALL' &&
    hostBinding.selector === undefined &&
    hops === whole.config.xff_num_trusted_hops &&
    security === whole.security;
  const table = {
    table: `${EDGE}:${port}`,
    config: { ...whole.config, xff_num_trusted_hops: hops },
    security,
    binds: (bound: EdgeHost) => binds(listener, bound),
  };
  return {
    ...(isWhole ? whole : table),
    address: { host, port },
    takes: { plain: true, tls },
    proxyProtocol,
    ...(statsPrefix === undefined ? {} : { statsPrefix }),
    origins: [id],
  };
}

/** What closes a name, and has no labels that can be read, closes it wherever it could be bound. */
function binds({ namespace, spec }: Resource<'Listener'>, host: EdgeHost): boolean {
  const { namespace: namespaces, selector } = spec.hostBinding;
  if (host.contextOnly) return true;
  if (namespaces.from === 'SELF' && host.namespace !== namespace) return false;
  if (selector === undefined || host.insecure === 'closed') return true;
  return selects(selector, host.labels);
}

/** What wants an address of the edge. */
export type PortClaims = {
  readonly ports: readonly EdgePort[];
  /** TCP ports of Gateways on the same proxies, and the ids of the resources that have them. */
  readonly gatewayPorts: ReadonlyMap<number, string>;
};

/**
 * Returns the id of what has the address of a port instead, or the name of its setting.
 * @returns undefined when the port is served
 */
export function takenBy(port: EdgePort, { gatewayPorts, ports }: PortClaims): string | undefined {
  const name = listenerName(port.address);
  const first = ports.find(({ address }) => listenerName(address) === name);
  const gateway = port.origins.some(isListener) ? gatewayPorts.get(port.address.port) : undefined;
  return gateway ?? (first === port ? undefined : (first?.origins[0] ?? 'EDGE_TLS_ADDRESS'));
}

export function isListener(id: string): boolean {
  return id.startsWith('Listener/');
}

/** Returns each table once. That of all Hosts is always there. */
export function edgeTables(ports: readonly EdgePort[], config: ModuleConfig): readonly EdgeTable[] {
  const whole = wholeTable(config);
  const others = ports.filter(({ table }) => table !== whole.table);
  return [whole, ...new Map(others.map(each => [each.table, each])).values()];
}

/** Returns the Hosts that TLS is intended for, ordered by name. */
export function speakingTls(hosts: readonly EdgeHost[]): readonly EdgeHost[] {
  return hosts
    .filter(({ tls }) => tls !== undefined)
    .sort((a, b) => compareText(a.hostname, b.hostname));
}
