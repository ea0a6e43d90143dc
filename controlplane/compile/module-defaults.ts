import { mappingHeadersShape } from '#resources/kinds/mapping/mapping-headers.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import { addsCredentials } from '#resources/kinds/mapping/mapping-traffic-check.ts';
import type { ModuleConfig } from '#resources/kinds/module/module.ts';
import { moduleDefaultsShape } from '#resources/kinds/module/module-defaults.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Memo } from './memo.ts';

type Defaults = Pick<ModuleConfig, keyof typeof moduleDefaultsShape>;
type HeaderDefaults = ModuleConfig['defaults']['httpmapping'];

const FIELDS = Object.keys(moduleDefaultsShape) as readonly (keyof Defaults)[];

/** Returns the resources, in which each Mapping has the Module's defaults for its absent fields. */
export function withModuleDefaults(resources: ResourceSet, memo: Memo): ResourceSet {
  const config = resources.config;
  const given = FIELDS.filter(field => config[field] !== undefined);
  const { httpmapping, ...others } = config.defaults;
  const headers = { ...others, ...written(httpmapping) };
  if (given.length === 0 && Object.keys(written(headers)).length === 0) return resources;
  const defaults: Defaults = Object.fromEntries(given.map(field => [field, config[field]]));
  const inputs = [config.defaults, ...FIELDS.map(field => config[field])];
  const mappings = resources.mappings.map(mapping => {
    const spec = memo.of(mapping.spec, 'defaults', inputs, () => ({
      ...withDefaults(mapping.spec, defaults),
      ...headers,
      ...written(mapping.spec),
    }));
    return { ...mapping, spec };
  });
  return { ...resources, mappings };
}

/** Returns the changes of headers that there are. None is the same as an empty one. */
function written(spec: HeaderDefaults): Partial<HeaderDefaults> {
  const changes = HEADERS.filter(field => Object.keys(spec[field]).length > 0);
  return Object.fromEntries(changes.map(field => [field, spec[field]]));
}

const HEADERS = Object.keys(mappingHeadersShape) as readonly (keyof HeaderDefaults)[];

/**
 * A Mapping that lets every page use credentials keeps to the pages that its service names. The
 * default for any origin does not apply to it.
 */
function withDefaults(spec: MappingSpec, defaults: Defaults): MappingSpec {
  const { cors: _, ...others } = defaults;
  const together = { ...defaults, ...spec };
  return addsCredentials(together) ? { ...others, ...spec } : together;
}
