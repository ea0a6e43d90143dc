import type { JsonObject } from '#protos/json.ts';
import type { PathModifier } from '#resources/kinds/gateway-api/path-modifier.ts';
import type { HttpRouteFilter } from '#resources/kinds/http-route/http-route-spec.ts';
import { replacePrefix } from '../routes/rewrite.ts';
import { valuesOf } from './rule-filters.ts';

/**
 * Returns the part of a `RouteAction` that rewrites the path, by the first filter that names one.
 */
export function pathRewrite(
  filters: readonly HttpRouteFilter[],
  prefix: string | undefined,
): JsonObject {
  const [path] = valuesOf(filters, 'urlRewrite').flatMap(({ value }) => value.path ?? []);
  return pathChange(path, prefix);
}

/** Returns the part of a `RouteAction` or `ClusterWeight` that rewrites the host, likewise. */
export function hostRewrite(filters: readonly HttpRouteFilter[]): JsonObject {
  const [hostname] = valuesOf(filters, 'urlRewrite').flatMap(({ value }) => value.hostname ?? []);
  return hostname === undefined ? {} : { host_rewrite_literal: hostname };
}

/**
 * Returns the part that replaces a path, or the prefix that the match has. Without such a prefix
 * there is nothing to replace.
 */
export function pathChange(
  path: PathModifier | undefined,
  prefix: string | undefined,
  whole?: 'path_redirect',
): JsonObject {
  const { replaceFullPath, replacePrefixMatch } = absolute(path);
  if (replaceFullPath !== undefined)
    return whole === undefined ? toRegex('^/.*$', replaceFullPath) : { [whole]: replaceFullPath };
  if (prefix === undefined || replacePrefixMatch === undefined) return {};
  // Behind the prefix `/` there is no slash that could be kept.
  if (prefix === '') return toRegex('^/', withSlash(replacePrefixMatch));
  return replacePrefix({ prefix, prefix_exact: false, case_sensitive: true }, replacePrefixMatch);
}

/** A path that begins elsewhere would continue the host. */
function absolute({ replaceFullPath, replacePrefixMatch }: Partial<PathModifier> = {}) {
  return {
    replaceFullPath: replaceFullPath?.replace(/^\/?/, '/'),
    replacePrefixMatch: replacePrefixMatch?.replace(/^\/?/, '/'),
  };
}

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}

function toRegex(regex: string, text: string): JsonObject {
  return { regex_rewrite: { pattern: { regex }, substitution: text.replaceAll('\\', '\\\\') } };
}
