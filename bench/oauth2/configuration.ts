import { compile } from '#controlplane/compile/compile.ts';
import { EXT_AUTHZ } from '#controlplane/compile/node-groups.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { snapshotEncoder } from '#controlplane/rollout/envoy-snapshot.ts';
import { type Configuration, FILTER_TYPES, FilterSet } from '#ext-authz/filters/filter-set.ts';
import type { Snapshot } from '#xds/snapshot.ts';

/** Returns what the control plane sends ext-authz for these resources. */
export function snapshotOfSite(yaml: string): Snapshot {
  const none = { host: '127.0.0.1', port: 1 };
  const options = { edge: none, sds: none, rateLimit: none, extAuthz: none };
  const compiled = compile(resourceSetOf(yaml).resources, EXT_AUTHZ, options);
  return snapshotEncoder(Buffer.alloc(32))(compiled);
}

/** Returns the Filters and rules of these resources, as ext-authz gets them. */
export function configurationOf(yaml: string): Configuration {
  const snapshot = snapshotOfSite(yaml);
  const filters = new FilterSet();
  let configuration: Configuration | undefined;
  for (const typeUrl of FILTER_TYPES) {
    const changed = [...(snapshot.get(typeUrl)?.values() ?? [])];
    const parsed = filters.update({ typeUrl, changed, removed: [], complete: true });
    if ('error' in parsed) throw new Error(parsed.error);
    configuration = parsed.value;
  }
  if (configuration === undefined) throw new Error('no configuration');
  return configuration;
}
