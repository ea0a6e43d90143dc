import { isRecord, type KubernetesObject } from '#kubernetes/kubernetes-object.ts';

/**
 * A port of a Service as its clients know it. `name` is that of the port in the slices, or '' where
 * it has none.
 */
export type ServicePort = {
  readonly name: string;
  readonly port: number;
  /** Otherwise it is of TCP. */
  readonly udp?: true;
};

/** Reads the ports of a Service, for TCP and UDP. See the Kubernetes API, ServicePort v1. */
export function readServicePorts({ spec }: KubernetesObject): readonly ServicePort[] {
  const ports = isRecord(spec) && Array.isArray(spec.ports) ? spec.ports.filter(isRecord) : [];
  return ports.flatMap(({ name = '', port, protocol = 'TCP' }) =>
    (protocol === 'TCP' || protocol === 'UDP') &&
    typeof port === 'number' &&
    typeof name === 'string'
      ? [{ name, port, ...(protocol === 'UDP' && { udp: true }) }]
      : [],
  );
}
