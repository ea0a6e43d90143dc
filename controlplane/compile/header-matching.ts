import type { Resource } from '#resources/resource.ts';
import { hasKeys } from './has-keys.ts';
import { keptFilter } from './kept-lists.ts';

/** Returns the Mappings that match requests by headers. */
export const headerMatching = keptFilter(
  ({ spec }: Resource<'Mapping'>) => hasKeys(spec.headers) || hasKeys(spec.regex_headers),
);
