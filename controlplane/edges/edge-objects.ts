import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { EDGES_LABEL } from '#resources/words/gateway-edges.ts';
import type { EdgeGateway, EdgeSystem } from './edge-gateway.ts';
import { edgeAnnotations, edgeLabels, podSelector } from './edge-labels.ts';
import { edgeName } from './edge-names.ts';
import { edgePod } from './edge-pod.ts';
import { edgeServices } from './edge-service.ts';

/** The CPU in use, in percent of what is requested, above which pods are added. */
const BUSY_PERCENT = 80;

/**
 * Returns the objects that make the proxies of a Gateway, in the order in which they are needed.
 */
export function edgeObjects(gateway: EdgeGateway, system: EdgeSystem): readonly KubernetesObject[] {
  return [
    make('v1', 'ServiceAccount', gateway, system, { automountServiceAccountToken: false }),
    make('apps/v1', 'Deployment', gateway, system, { spec: deploymentSpec(gateway, system) }),
    ...servicesOf(gateway, system),
    make('autoscaling/v2', 'HorizontalPodAutoscaler', gateway, system, {
      spec: autoscalerSpec(gateway),
    }),
    make('policy/v1', 'PodDisruptionBudget', gateway, system, {
      spec: {
        maxUnavailable: 1,
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
        selector: { matchLabels: podSelector(gateway) },
      },
    }),
  ];
}

/** What is known of a Gateway that owns an object. */
export type EdgeOwner = Pick<EdgeGateway, 'name' | 'uid'>;

/**
 * Returns the ConfigMap that the proxies of all Gateways of a namespace read. It has one name, so
 * that the right to write it is a right to no other ConfigMap.
 */
export function edgeConfigMap(
  namespace: string,
  gateways: readonly EdgeOwner[],
  { name, files }: EdgeSystem,
): KubernetesObject {
  const labels = {
    'app.kubernetes.io/managed-by': 'gateway',
    'app.kubernetes.io/part-of': 'gateway',
    [EDGES_LABEL]: name,
  };
  const ownerReferences = gateways.map(ownerOf);
  const metadata = { name, namespace, labels, ownerReferences };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: files };
}

/**
 * A Gateway without a port has no Service, because none is possible. Annotations of the parameters
 * are for balancers, which the first Service alone may have.
 */
function servicesOf(gateway: EdgeGateway, system: EdgeSystem): readonly KubernetesObject[] {
  if (gateway.ports.length === 0) return [];
  return edgeServices(gateway).map(({ name, spec }, index) => {
    const made = make('v1', 'Service', gateway, system, { spec });
    const more = index === 0 ? gateway.deployment.service.annotations : {};
    const annotations = { ...more, ...edgeAnnotations(gateway) };
    return { ...made, metadata: { ...made.metadata, name, annotations } };
  });
}

function make(
  apiVersion: string,
  kind: string,
  gateway: EdgeGateway,
  system: EdgeSystem,
  content: object,
): KubernetesObject {
  const metadata = {
    name: edgeName(gateway.name, gateway.className),
    namespace: gateway.namespace,
    labels: edgeLabels(gateway, system),
    annotations: edgeAnnotations(gateway),
    ownerReferences: [ownerOf(gateway)],
  };
  return { apiVersion, kind, metadata, ...content };
}

function ownerOf({ name, uid }: EdgeOwner): object {
  return { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway', name, uid };
}

/** It has no number of replicas, which belongs to the autoscaler. */
function deploymentSpec(gateway: EdgeGateway, system: EdgeSystem): object {
  return {
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    selector: { matchLabels: podSelector(gateway) },
    template: edgePod(gateway, system),
  };
}

function autoscalerSpec({ name, className, deployment }: EdgeGateway): object {
  const scaled = { apiVersion: 'apps/v1', kind: 'Deployment', name: edgeName(name, className) };
  const target = { type: 'Utilization', averageUtilization: BUSY_PERCENT };
  return {
    scaleTargetRef: scaled,
    minReplicas: deployment.min_replicas,
    maxReplicas: deployment.max_replicas,
    metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }],
  };
}
