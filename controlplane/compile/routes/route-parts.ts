import type { JsonObject } from '#protos/json.ts';
import { perFilterConfig } from '../per-filter-config.ts';

const HEADER_LISTS = [
  'request_headers_to_add',
  'request_headers_to_remove',
  'response_headers_to_add',
  'response_headers_to_remove',
] as const;

/**
 * Merges parts of a route. Their header changes add up, and their settings are for different
 * filters. At most one part has metadata.
 */
export function routeParts(...parts: readonly JsonObject[]): JsonObject {
  const lists = HEADER_LISTS.map(
    name => [name, parts.flatMap(part => listOf(part, name))] as const,
  );
  const filled = lists.filter(([, items]) => items.length > 0);
  const metadata = parts
    .flatMap(part => part.metadata ?? [])
    .slice(0, 1)
    .map(said => ['metadata', said]);
  return { ...Object.fromEntries([...metadata, ...filled]), ...perFilterConfig(...parts) };
}

function listOf(part: JsonObject, name: string) {
  const items = part[name];
  return Array.isArray(items) ? items : [];
}
