import type { JsonObject } from '#protos/json.ts';
import { perFilterConfig } from '../per-filter-config.ts';

const HEADER_LISTS = [
  'request_headers_to_add',
  'request_headers_to_remove',
  'response_headers_to_add',
  'response_headers_to_remove',
] as const;

/** Parts of a route together: what they say of headers adds up, what they say of filters is for different filters. */
export function routeParts(...parts: readonly JsonObject[]): JsonObject {
  const lists = HEADER_LISTS.map(name => [name, parts.flatMap(part => listOf(part, name))] as const);
  const filled = lists.filter(([, items]) => items.length > 0);
  return { ...Object.fromEntries(filled), ...perFilterConfig(...parts) };
}

function listOf(part: JsonObject, name: string) {
  const items = part[name];
  return Array.isArray(items) ? items : [];
}
