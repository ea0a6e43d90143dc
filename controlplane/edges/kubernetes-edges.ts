import { type Leading, lead } from '#kubernetes/lease.ts';
import type { EdgeAddresses } from './edge-addresses.ts';
import type { WantedEdges } from './edge-changes.ts';
import { type AskedAddress, gatewayIdOf } from './edge-gateway.ts';
import { type EdgeTrouble, edgeTroubles } from './edge-troubles.ts';
import { Edges, type EdgesParts } from './edges.ts';
import { followSharedEdge } from './shared-edge.ts';

export type KubernetesEdgesParts = EdgesParts & {
  /** Identity by which this control plane holds its Lease. */
  readonly holder: string;
  /**
   * Returns whether another control plane writes statuses. It is left to make the edges as well, so
   * that a status tells why they cannot be made.
   */
  writtenElsewhere(): boolean;
  /** Whether the proxies of the edge serve all Gateways. Then nothing is made. */
  readonly shared: boolean;
  /**
   * Returns what all Gateways ask for.
   * @returns undefined while the cluster has no GatewayClass of ours
   */
  wanted(): WantedEdges | undefined;
};

/** The proxies of Gateways, as their status tells of them. */
export type KubernetesEdges = {
  /** Called when what Gateways ask for may have changed. */
  changed(): void;
  /**
   * Returns the addresses of a Gateway.
   * @returns undefined when it has no proxies, and `unread` while nothing is known
   */
  addressesOf(id: string): EdgeAddresses | 'unread' | undefined;
  /**
   * Returns why the proxies of a Gateway cannot be made.
   * @returns undefined when nothing is known to be wrong
   */
  troubleOf(id: string): string | undefined;
  /** Returns what all Gateways with proxies lack. */
  troubles(): readonly EdgeTrouble[];
  close(): Promise<void>;
};

/** What takes what Gateways ask for. */
type Opened = Omit<KubernetesEdges, 'changed' | 'troubles'> & { want(wanted: WantedEdges): void };

/** What Gateways ask for is looked at after this quiet time, in ms. */
const QUIET_MS = 200;

/**
 * Follows what Gateways ask for, and makes their proxies in the cluster. Without a GatewayClass of
 * ours it does nothing, and needs no rights.
 */
export function openKubernetesEdges(parts: KubernetesEdgesParts): KubernetesEdges {
  let opened: Opened | undefined;
  let gateways: readonly string[] = [];
  let cancel: (() => void) | undefined;
  const look = () => {
    cancel = undefined;
    const wanted = parts.wanted();
    if (wanted === undefined) return;
    opened ??= parts.shared ? openShared(parts) : openOwn(parts);
    opened.want(wanted);
    gateways = wanted.gateways.map(gatewayIdOf);
  };
  return {
    changed: () => {
      cancel ??= parts.after(QUIET_MS, look);
    },
    addressesOf: id => opened?.addressesOf(id),
    troubleOf: id => opened?.troubleOf(id),
    troubles: () => (opened === undefined ? [] : edgeTroubles(gateways, opened)),
    close: async () => {
      cancel?.();
      await opened?.close();
    },
  };
}

function openOwn(parts: KubernetesEdgesParts): Opened {
  const edges = new Edges(parts);
  const leading = holdLease(parts, edges);
  return {
    want: wanted => edges.want(wanted),
    addressesOf: id => edges.addressesOf(id),
    troubleOf: id => edges.troubleOf(id),
    close: () => {
      edges.close();
      return leading.close();
    },
  };
}

/** Of several control planes one writes. The Lease is named as all that is made (`edgesName`). */
function holdLease(parts: KubernetesEdgesParts, edges: Edges): Leading {
  const { cluster, log } = parts;
  const lease = parts.system.name;
  return lead({
    ...parts,
    namespace: cluster.namespace,
    name: lease,
    yields: parts.writtenElsewhere,
    onLeading: leading => {
      log.info({ lease, leading }, leading ? 'makes the edges of Gateways' : 'makes no edges');
      edges.lead(leading);
    },
    onTrouble: (error, repeated) => {
      if (!repeated) log.warn(`cannot hold the Lease ${lease}: ${error.message}`);
    },
  });
}

function openShared(parts: KubernetesEdgesParts): Opened {
  const edge = followSharedEdge(parts);
  let asked: ReadonlyMap<string, readonly AskedAddress[]> = new Map();
  return {
    want: ({ gateways }) => {
      asked = new Map(gateways.map(each => [gatewayIdOf(each), each.addresses]));
    },
    addressesOf: id => {
      const addresses = asked.get(id);
      return addresses && edge.addresses(addresses);
    },
    troubleOf: () => undefined,
    close: async () => edge.close(),
  };
}
