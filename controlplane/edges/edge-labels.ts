import { EDGES_LABEL, GATEWAY_ANNOTATION } from '#resources/words/gateway-edges.ts';
import type { EdgeGateway, EdgeSystem } from './edge-gateway.ts';
import { gatewayIdOf } from './edge-gateway.ts';
import { labelValue } from './edge-names.ts';

const GATEWAY_NAME = 'gateway.networking.k8s.io/gateway-name';
const CLASS_NAME = 'gateway.networking.k8s.io/gateway-class-name';

type Labels = Readonly<Record<string, string>>;

/** Returns the labels that choose the pods of a Gateway. A Deployment never changes them. */
export function podSelector({ name }: EdgeGateway): Labels {
  return { 'app.kubernetes.io/name': 'gateway-edge', [GATEWAY_NAME]: labelValue(name) };
}

/** Returns the labels of a Gateway's objects. Those of its `infrastructure` change no other. */
export function edgeLabels(gateway: EdgeGateway, { name }: EdgeSystem): Labels {
  return {
    ...gateway.labels,
    ...podSelector(gateway),
    'app.kubernetes.io/managed-by': 'gateway',
    'app.kubernetes.io/part-of': 'gateway',
    [CLASS_NAME]: labelValue(gateway.className),
    [EDGES_LABEL]: name,
  };
}

export function edgeAnnotations(gateway: EdgeGateway): Labels {
  return { ...gateway.annotations, [GATEWAY_ANNOTATION]: gatewayIdOf(gateway) };
}
