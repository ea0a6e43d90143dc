import * as z from 'zod';
import { integer } from '#resources/words/number-types.ts';

/** Ten times what one needs to serve a large site. */
const MOST_REPLICAS = 1_000;

const replicas = integer(1, MOST_REPLICAS, 'a whole number from 1 to 1000');

const cpu = z
  .string()
  .regex(/^([1-9]\d{0,2}(\.\d{1,3})?|0\.\d{1,3}|[1-9]\d{0,5}m)$/)
  .meta({ form: 'CPUs of Kubernetes, such as `"2"` or `500m`' });

const memory = z
  .string()
  .regex(/^[1-9]\d{0,9}(Ki|Mi|Gi|k|M|G)?$/)
  .meta({ form: 'bytes of Kubernetes, such as `512Mi`' });

const requests = z.object({
  cpu: cpu.default('500m').describe('CPUs that a proxy is sure of'),
  memory: memory.default('512Mi').describe('Memory that a proxy is sure of'),
});

const limits = z.object({
  cpu: cpu.default('2').describe('CPUs of a proxy. It has as many workers'),
  memory: memory
    .default('2560Mi')
    .describe('Memory of a proxy. It sheds load at 2 GiB, so it needs more than that'),
});

const service = z.object({
  type: z
    .enum(['LoadBalancer', 'NodePort', 'ClusterIP'])
    .default('LoadBalancer')
    .describe('Type of the Service'),
  annotations: z
    .record(z.string(), z.string().max(4096))
    .default({})
    .meta({ form: 'a map from annotation to text' })
    .describe('Annotations of the Service, such as those of a load balancer'),
});

/** The pods and the Service of a Gateway. */
export const deployment = z.object({
  min_replicas: replicas.default(2).describe('Proxies that there are at least'),
  max_replicas: replicas.default(10).describe('Proxies that there are at most'),
  resources: z
    .object({
      requests: requests.prefault({}).describe('What a proxy is sure of'),
      limits: limits.prefault({}).describe('What a proxy has at most'),
    })
    .prefault({})
    .describe('CPUs and memory of each proxy'),
  service: service.prefault({}).describe('The Service that clients reach'),
});

export type DeploymentSpec = z.output<typeof deployment>;
