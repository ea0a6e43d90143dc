import { changedKeys, PersistentMap } from '#xds/persistent-map.ts';
import type { Instance, Instances } from './instance.ts';
import type { InstanceSource } from './instance-source.ts';

/**
 * Merges several sources. A service has the instances of all, those of earlier sources first. The
 * first answer waits for the first answer of each source. So a restart takes no instance away from
 * the proxies.
 */
export function mergedSource(sources: readonly InstanceSource[]): InstanceSource {
  return {
    watch(onChange) {
      const known = new Map<InstanceSource, Instances>();
      let merged = new PersistentMap<readonly Instance[]>();
      const ends = sources.map(source =>
        source.watch(instances => {
          const changed = changedKeys(known.get(source) ?? new Map(), instances);
          known.set(source, instances);
          const all = sources.flatMap(each => known.get(each) ?? []);
          merged = merged.with(changed.map(name => [name, mergeNamed(name, all)]));
          if (known.size === sources.length) onChange(merged);
        }),
      );
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

/** A service that only one source has keeps its array, as a sign that it has not changed. */
function mergeNamed(name: string, all: readonly Instances[]): readonly Instance[] | undefined {
  const found = all.map(instances => instances.get(name)).filter(members => members !== undefined);
  return found.length > 1 ? found.flat() : found[0];
}
