import type { JsonObject } from '#protos/json.ts';
import type { MappingSpec } from '#resources/mapping.ts';
import { quoteRegex } from '../quote-regex.ts';

/**
 * The part of Envoy's `RouteAction` that replaces a Mapping's prefix. A slash stands between the new prefix and what
 * follows exactly when the path had one there or the old prefix ended in one: `/user` to `/` makes `/user/health` to
 * `/health`, not `//health`, and `/` to `/v1` makes `/health` to `/v1/health`, not `/v1health`.
 */
export function toRewrite({ prefix, prefix_exact, prefix_regex, rewrite }: MappingSpec): JsonObject {
  if (prefix_regex || rewrite === '' || rewrite === prefix) return {};
  if (prefix_exact) return { prefix_rewrite: rewrite };
  if (prefix.endsWith('/')) return { prefix_rewrite: rewrite.endsWith('/') ? rewrite : `${rewrite}/` };
  if (!rewrite.endsWith('/')) return { prefix_rewrite: rewrite };
  const pattern = { regex: `^${quoteRegex(prefix)}/?` };
  return { regex_rewrite: { pattern, substitution: rewrite.replaceAll('\\', '\\\\') } };
}
