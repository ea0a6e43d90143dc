import type { Instance, Instances } from './instance.ts';
import type { InstanceSource } from './instance-source.ts';

/**
 * What several sources know together: a service has the instances of all, those of earlier sources first.
 * The first answer waits for the first answer of each, so that a restart takes no instance out of the proxies.
 */
export function mergedSource(sources: readonly InstanceSource[]): InstanceSource {
  return {
    watch(onChange) {
      const known = new Map<InstanceSource, Instances>();
      const ends = sources.map(source =>
        source.watch(instances => {
          known.set(source, instances);
          if (known.size === sources.length) onChange(merge(sources.map(each => known.get(each))));
        }),
      );
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

function merge(all: readonly (Instances | undefined)[]): Instances {
  const [only, ...others] = all.filter(instances => instances !== undefined && instances.size > 0);
  if (only === undefined || others.length === 0) return only ?? new Map();
  const merged = new Map<string, readonly Instance[]>();
  for (const instances of all) {
    for (const [service, more] of instances ?? []) {
      const others = merged.get(service);
      // The array of a service that one source alone has stays the same, as a sign that it has not changed.
      merged.set(service, others === undefined ? more : [...others, ...more]);
    }
  }
  return merged;
}
