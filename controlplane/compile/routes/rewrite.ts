import type { JsonObject } from '#protos/json.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import type { RegexSubstitution } from '#resources/match/regex-substitution.ts';
import { quoteRegex } from '../quote-regex.ts';

type Path = Pick<MappingSpec, 'prefix' | 'prefix_exact' | 'case_sensitive'>;

/**
 * Returns the part of Envoy's `RouteAction` that replaces a Mapping's prefix, or parts of the path.
 */
export function toRewrite(spec: MappingSpec): JsonObject {
  const { prefix_regex, regex_rewrite, rewrite } = spec;
  if (regex_rewrite !== undefined) return toRegexRewrite(regex_rewrite);
  return prefix_regex || rewrite === '' ? {} : replacePrefix(spec, rewrite);
}

/**
 * Returns the part of a `RouteAction` or `RedirectAction` that replaces a prefix. A slash stands
 * between the new prefix and the rest exactly when the path had one there or the old prefix ended
 * in one.
 * - `/user` to `/` makes `/user/health` to `/health`, not `//health`.
 * - `/` to `/v1` makes `/health` to `/v1/health`, not `/v1health`.
 */
export function replacePrefix(
  { prefix, prefix_exact, case_sensitive }: Path,
  to: string,
): JsonObject {
  if (to === prefix && case_sensitive) return {};
  if (prefix_exact) return { prefix_rewrite: to };
  if (prefix.endsWith('/')) return { prefix_rewrite: to.endsWith('/') ? to : `${to}/` };
  if (!to.endsWith('/')) return { prefix_rewrite: to };
  const pattern = { regex: `${case_sensitive ? '' : '(?i)'}^${quoteRegex(prefix)}/?` };
  return { regex_rewrite: { pattern, substitution: to.replaceAll('\\', '\\\\') } };
}

/** Returns the same part for an expression. */
export function toRegexRewrite({ pattern, substitution }: RegexSubstitution): JsonObject {
  return { regex_rewrite: { pattern: { regex: pattern }, substitution } };
}
