import { deployment } from '#resources/kinds/proxy-config/deployment.ts';
import { edgeFiles } from '../edge-files.ts';
import type { EdgeGateway, EdgeSystem } from '../edge-gateway.ts';

export const DEPLOYMENT = deployment.parse({});

/** A Gateway of two listeners with what is not said otherwise. */
export function sampleGateway(changes: Partial<EdgeGateway> = {}): EdgeGateway {
  return {
    namespace: 'shop',
    name: 'public',
    uid: '5c3a3b0e-7f0c-4a51-8d7a-0b9d3c0f9a11',
    className: 'gateway',
    group: 'shop-public-0a1b2c3d',
    ports: [
      { port: 443, protocol: 'TCP' },
      { port: 80, protocol: 'TCP' },
    ],
    addresses: [],
    labels: {},
    annotations: {},
    deployment: DEPLOYMENT,
    ...changes,
  };
}

export const SYSTEM: EdgeSystem = {
  name: 'gateway-edges',
  image: 'envoyproxy/envoy:v1.40.0',
  pullSecrets: [],
  fixedUser: true,
  files: edgeFiles({
    xdsAddress: 'controlplane.gateway.svc:18000',
    sdsAddress: 'sds.gateway.svc:18003',
    trustDomain: 'gateway.internal',
    figures: true,
    drainScript: '#!/bin/bash\n',
  }),
};
