import { arch, cpus, totalmem } from 'node:os';
import { ENVOY_VERSION } from '#protos/envoy-api/envoy-files.ts';

/** Returns a sentence that says what the benchmarks ran on. */
export function machine(): string {
  const [cpu] = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores (${cpu?.model.trim() ?? arch()}), ${gib} GiB of memory, Envoy ${ENVOY_VERSION}, Node ${process.versions.node}.`;
}
