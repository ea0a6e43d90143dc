import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { gatewayApiOf } from '#controlplane/compile/gateways/gateway-api-of.ts';
import { Memo } from '#controlplane/compile/memo.ts';
import { edgeFiles } from '#controlplane/edges/edge-files.ts';
import type { EdgeSystem } from '#controlplane/edges/edge-gateway.ts';
import { type KubernetesEdges, openKubernetesEdges } from '#controlplane/edges/kubernetes-edges.ts';
import { wantedEdges } from '#controlplane/edges/wanted-edges.ts';
import { ROOT } from '#files/places.ts';
import { formatHostPort } from '#grpc/host-port.ts';
import type { Cluster } from '#kubernetes/cluster.ts';
import { after } from '#process/after.ts';
import type { ServedObject } from '#resources/kubernetes/served-object.ts';
import { edgesName } from '#resources/words/gateway-edges.ts';
import type { Config } from './config.ts';
import type { ControlPlane } from './control-plane.ts';

export type GatewayEdgesParts = {
  readonly config: Config;
  readonly cluster: Cluster;
  /** Identity by which this control plane holds its Lease. */
  readonly holder: string;
  readonly plane: ControlPlane;
  readonly log: Logger;
  /** Returns whether another control plane writes statuses. */
  writtenElsewhere(): boolean;
  /** Called when an address of a Gateway, or what is wrong with its proxies, may have changed. */
  changed(): void;
};

const DRAIN_SCRIPT = join(ROOT, 'deploy/kubernetes/system/drain-envoy.sh');

/** Makes the proxies of the Gateways that are in force. */
export async function openGatewayEdges(parts: GatewayEdgesParts): Promise<KubernetesEdges> {
  const { config, plane } = parts;
  const memo = new Memo();
  const wanted = (objects: readonly ServedObject[]) => {
    const resources = plane.resources();
    const { controller } = config.gateways;
    if (!resources.gatewayClasses.some(({ spec }) => spec.controllerName === controller))
      return undefined;
    const api = gatewayApiOf(resources, { gateways: config.gateways, shared: memo });
    return wantedEdges(api, resources, uidsOf(objects));
  };
  return openKubernetesEdges({
    ...parts,
    shared: config.gateways.sharedEdge,
    namespaces: config.kubernetes?.namespaces,
    system: await systemOf(config),
    wanted: () => {
      const facts = plane.objectFacts();
      return (
        facts &&
        memo.of(facts.rollout, 'wanted', [facts.gatewayApi], () => wanted(facts.gatewayApi))
      );
    },
    now: Date.now,
    after,
    random: Math.random,
  });
}

async function systemOf(config: Config): Promise<EdgeSystem> {
  const { edgeXds, sds, trustDomain, figures, gatewayId } = config;
  const files = edgeFiles({
    xdsAddress: formatHostPort(edgeXds),
    sdsAddress: formatHostPort(sds),
    trustDomain,
    figures,
    drainScript: await readFile(DRAIN_SCRIPT, 'utf8'),
  });
  return { name: edgesName(gatewayId), ...config.edgePods, files };
}

/** Returns the identity of each Gateway in the cluster, by the id of its resource. */
function uidsOf(objects: readonly ServedObject[]): ReadonlyMap<string, string> {
  const gateways = objects.filter(({ collection }) => collection.plural === 'gateways');
  return new Map(gateways.map(({ namespace, name, uid }) => [`Gateway/${namespace}/${name}`, uid]));
}
