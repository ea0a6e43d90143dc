import { bootstrap } from '#envoy/bootstrap.ts';
import { toEnvoyYaml } from '#envoy/envoy-yaml.ts';
import { replaceFile } from '#files/write-durably.ts';
import type { JsonObject } from '#protos/json.ts';
import { type EnvoyPart, type Layout, loopback } from './parts.ts';

/** Writes the file that the proxy starts with. */
export function writeBootstrap(
  { environment, ports }: Layout,
  part: EnvoyPart,
  discoveryClusters: readonly JsonObject[] = [],
): void {
  const content = bootstrap({
    nodeId: part.name,
    group: part.group,
    isBehindEdge: part.group !== 'edge',
    xdsAddress: loopback(ports.xds),
    sdsAddress: loopback(ports.sds),
    adminAddress: part.admin,
    ...part.listeners,
    figures: environment.FIGURES !== 'off',
    discoveryClusters,
  });
  replaceFile(part.bootstrapFile, toEnvoyYaml(content));
}
