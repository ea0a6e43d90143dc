import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import type { Resource } from '#resources/resource.ts';
import { matchKey } from './routes/mapping-match.ts';

/** Returns whether all Mappings that share a route with this one have `bypass_auth`. */
export function bypasses(mappings: readonly Resource<'Mapping'>[]): (spec: MappingSpec) => boolean {
  let filtered: ReadonlySet<string> | undefined;
  return spec => {
    if (!spec.bypass_auth) return false;
    filtered ??= new Set(
      mappings.filter(({ spec }) => !spec.bypass_auth).map(({ spec }) => matchKey(spec)),
    );
    return !filtered.has(matchKey(spec));
  };
}
