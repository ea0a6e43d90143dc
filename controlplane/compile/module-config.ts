import { type ModuleSpec, module } from '#resources/kinds/module/module.ts';
import type { ResourceSet } from '#resources/resource-set.ts';

export type ModuleConfig = ModuleSpec['config'];

/** Returns the settings of the whole gateway: those of the first Module by id, or the defaults. */
export function moduleConfig({ modules }: ResourceSet): ModuleConfig {
  return modules[0]?.spec.config ?? module.schema.parse({}).config;
}
