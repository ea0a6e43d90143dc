import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import { addsCredentials } from '#resources/kinds/mapping/mapping-traffic-check.ts';
import { moduleDefaultsShape } from '#resources/kinds/module/module-defaults.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Memo } from './memo.ts';
import { type ModuleConfig, moduleConfig } from './module-config.ts';

type Defaults = Pick<ModuleConfig, keyof typeof moduleDefaultsShape>;

const FIELDS = Object.keys(moduleDefaultsShape) as readonly (keyof Defaults)[];

/** The resources, in which each Mapping has the Module's defaults where it says nothing itself. */
export function withModuleDefaults(resources: ResourceSet, memo: Memo): ResourceSet {
  const config = moduleConfig(resources);
  const given = FIELDS.filter(field => config[field] !== undefined);
  if (given.length === 0) return resources;
  const defaults: Defaults = Object.fromEntries(given.map(field => [field, config[field]]));
  const inputs = FIELDS.map(field => config[field]);
  const mappings = resources.mappings.map(mapping => {
    const spec = memo.of(mapping.spec, 'defaults', inputs, () =>
      withDefaults(mapping.spec, defaults),
    );
    return { ...mapping, spec };
  });
  return { ...resources, mappings };
}

/**
 * A Mapping that lets every page use credentials keeps to the pages that its service names: the
 * default for any origin is not for it.
 */
function withDefaults(spec: MappingSpec, defaults: Defaults): MappingSpec {
  const { cors: _, ...others } = defaults;
  const together = { ...defaults, ...spec };
  return addsCredentials(together) ? { ...others, ...spec } : together;
}
