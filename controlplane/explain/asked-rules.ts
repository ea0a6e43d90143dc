import { JOINED } from '#controlplane/compile/gateways/route-filters.ts';
import { isJsonObject } from '#protos/json.ts';
import { EXT_AUTHZ_FILTER, type PerFilterConfig } from './route-configuration.ts';

/** Returns the rule of a route of Gateway API, where it or a policy for it names Filters. */
export function routeRuleIn(route: PerFilterConfig): string | undefined {
  return extensionOf(route, 'rule');
}

/** Returns the names of what the requests of a route pass before it is chosen, in their order. */
export function stagesBefore(route: PerFilterConfig): readonly string[] {
  return extensionOf(route, 'after')?.split(JOINED) ?? [];
}

function extensionOf(
  { typed_per_filter_config: config }: PerFilterConfig,
  key: string,
): string | undefined {
  const settings = config?.[EXT_AUTHZ_FILTER]?.check_settings;
  const extensions = isJsonObject(settings) ? settings.context_extensions : undefined;
  const value = isJsonObject(extensions) ? extensions[key] : undefined;
  return typeof value === 'string' ? value : undefined;
}
