import type { Definitions, FilterDefinition } from '#ext-authz/policy/filter-settings.ts';
import type { ProviderAspect } from '#ext-authz/provider/provider-listener.ts';
import type { ReportedFinding } from '#process/report.ts';
import { resourceId } from '#resources/resource.ts';
import type { FilterWatch } from './filter-watch.ts';

/**
 * Returns all that is wrong with these Filters, for their operators. `opened` are those that can
 * run.
 */
export function reportedFindings(
  definitions: Definitions,
  opened: ReadonlyMap<string, { readonly watch: FilterWatch }>,
): readonly ReportedFinding[] {
  return [...definitions].flatMap(([name, definition]) => {
    const watch = opened.get(name)?.watch;
    return watch === undefined ? [unopened(definition)] : found(definition, watch);
  });
}

function found(definition: FilterDefinition, watch: FilterWatch): readonly ReportedFinding[] {
  return watch.findings().map(({ aspect, severity, message }) => ({
    resource: idOf(definition),
    field: fieldOf(definition, aspect),
    severity,
    message,
    outOfService: false,
  }));
}

/** Returns the field that it comes from, or the field by which the rest was found. */
function fieldOf({ type }: FilterDefinition, aspect: ProviderAspect): string {
  if (type === 'JWT') return 'spec.JWT.jwksURI';
  return aspect === 'client' ? 'spec.OAuth2.clientID' : 'spec.OAuth2.authorizationURL';
}

function unopened(definition: FilterDefinition): ReportedFinding {
  return {
    resource: idOf(definition),
    field: '',
    severity: 'error',
    message: 'ext-authz cannot run it, and its log says why. What refers to it answers 500',
    outOfService: true,
  };
}

function idOf({ namespace, name }: FilterDefinition): string {
  return resourceId('Filter', namespace, name);
}
