import * as z from 'zod';
import { SUBDOMAIN_NAME } from '../gateway-api/names.ts';

/** The address is the ClusterIP of a Service. Source: `GatewayAddressRoutabilityCluster`. */
export const CLUSTER = 'Cluster';

/** It promises nothing, and the suite of Gateway API asks for it. Source: GEP-5093. */
const SENTINEL = 'testing.x-k8s.io/sentinel';

/** Returns whether an address may be had from anywhere, as the Service that has it is set up. */
export function isAnywhere(routability: string): boolean {
  return routability === '' || routability === SENTINEL;
}

/** From where an address is reached. Source: `GatewayAddressRoutabilityType` of Gateway API. */
export const routability = z
  .string()
  .max(253)
  .refine(isRoutability, 'write Cluster, or a domain and a name. Those of k8s.io are reserved')
  .default('')
  .meta({ form: '`Cluster`, or a domain and a name' });

function isRoutability(text: string): boolean {
  if (text === '' || text === CLUSTER) return true;
  const [domain = '', ...path] = text.split('/');
  const isReserved = domain === 'k8s.io' || domain.endsWith('.k8s.io');
  return SUBDOMAIN_NAME.test(domain) && !isReserved && path.join('/') !== '';
}
