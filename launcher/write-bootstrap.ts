import { stringify } from 'yaml';
import { bootstrap } from '#envoy/bootstrap.ts';
import { replaceFile } from '#files/write-durably.ts';
import type { JsonObject } from '#protos/json.ts';
import { type EnvoyPart, type Layout, loopback } from './parts.ts';

/** Writes the file that the proxy starts with. */
export function writeBootstrap(
  { ports }: Layout,
  part: EnvoyPart,
  discoveryClusters: readonly JsonObject[] = [],
): void {
  const content = bootstrap({
    nodeId: part.name,
    group: part.group,
    xdsAddress: loopback(ports.xds),
    sdsAddress: loopback(ports.sds),
    adminAddress: part.admin,
    discoveryClusters,
  });
  // YAML 1.1 is what Envoy reads: there an unquoted `y` or `off` is a boolean.
  replaceFile(
    part.bootstrapFile,
    stringify(content, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false }),
  );
}
