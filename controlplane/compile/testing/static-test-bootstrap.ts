import { bootstrap } from '#envoy/bootstrap.ts';
import type { JsonObject } from '#protos/json.ts';
import type { Compiled } from '../compiled.ts';
import { staticBootstrap } from '../static-bootstrap.ts';

const PROXY = {
  nodeId: 'test',
  group: 'test',
  xdsAddress: '127.0.0.1:18000',
  sdsAddress: '127.0.0.1:18003',
};

/**
 * Returns the compiled resources in a bootstrap of their own, with the clusters of discovery
 * services that they need.
 */
export function staticTestBootstrap(
  compiled: Compiled,
  discoveryClusters: readonly JsonObject[] = [],
): JsonObject {
  return staticBootstrap(bootstrap({ ...PROXY, discoveryClusters }), compiled);
}
