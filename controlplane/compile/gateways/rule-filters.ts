import type { JsonObject } from '#protos/json.ts';
import type { HeaderModifier } from '#resources/kinds/gateway-api/header-modifier.ts';
import type { HttpRouteFilter } from '#resources/kinds/http-route/http-route-spec.ts';
import { extension } from '../extension.ts';
import { headersField } from '../header-option.ts';
import { CORS_NAME } from '../routes/cors-filter.ts';
import { originMatcher } from '../routes/origin-matcher.ts';

type Field = Exclude<keyof HttpRouteFilter, 'type'>;

/** Returns what filters have in one field, in their order, and their places in the list. */
export function valuesOf<F extends Field>(
  filters: readonly HttpRouteFilter[],
  field: F,
): readonly { readonly index: number; readonly value: NonNullable<HttpRouteFilter[F]> }[] {
  return filters.flatMap((filter, index) => {
    const value = filter[field];
    return value === undefined ? [] : [{ index, value }];
  });
}

/**
 * Returns the part of a `Route` or `ClusterWeight` that changes headers, in the order of the
 * filters.
 */
export function headerChanges(filters: readonly HttpRouteFilter[]): JsonObject {
  const request = valuesOf(filters, 'requestHeaderModifier');
  const response = valuesOf(filters, 'responseHeaderModifier');
  return { ...changes('request', request), ...changes('response', response) };
}

/** Envoy removes before it adds. So what a later filter removes is not added. */
function changes(
  of: 'request' | 'response',
  modifiers: readonly { readonly value: HeaderModifier }[],
): JsonObject {
  const added = modifiers.flatMap(({ value: { add, set } }, at) => {
    const later = modifiers.slice(at + 1).flatMap(({ value: { remove } }) => remove);
    const gone = new Set(later.map(name => name.toLowerCase()));
    return [
      ...set.map(header => option(header, 'OVERWRITE_IF_EXISTS_OR_ADD')),
      ...add.map(header => option(header, 'APPEND_IF_EXISTS_OR_ADD')),
    ].filter(({ header }) => !gone.has(header.key.toLowerCase()));
  });
  const removed = modifiers.flatMap(({ value: { remove } }) => remove).filter(isToken);
  return {
    ...headersField(`${of}_headers_to_add`, added),
    ...headersField(`${of}_headers_to_remove`, removed),
  };
}

/** The API takes any text here. No header has another name (RFC 9110, section 5.6.2). */
function isToken(name: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name);
}

/** A percent sign would begin one of Envoy's formatters. */
function option(
  { name, value }: { readonly name: string; readonly value: string },
  append_action: string,
) {
  const header = { key: name, value: value.replaceAll('%', '%%') };
  return { header, append_action, keep_empty_value: true };
}

/**
 * Returns the settings of Envoy's CORS filter. It answers with the very origin, method and headers
 * of a request where `*` allows them. So caches must distinguish origins. An answer to a page of
 * another origin says nothing of CORS, whatever the service says.
 */
export function corsChanges(filters: readonly HttpRouteFilter[]): JsonObject {
  const [cors] = valuesOf(filters, 'cors');
  if (cors === undefined) return {};
  const { allowCredentials, allowHeaders, allowMethods, allowOrigins, exposeHeaders, maxAge } =
    cors.value;
  // With credentials `*` is the name of a header (Fetch standard, "CORS protocol").
  const exposed = exposeHeaders.filter(name => name !== '*' || !allowCredentials);
  const config = extension('filters.http.cors.v3.CorsPolicy', {
    allow_origin_string_match: allowOrigins.map(origin => originMatcher(sentOrigin(origin))),
    ...(allowMethods.length === 0 ? {} : { allow_methods: allowMethods.join(', ') }),
    ...(allowHeaders.length === 0 ? {} : { allow_headers: allowHeaders.join(', ') }),
    ...(exposed.length === 0 ? {} : { expose_headers: exposed.join(', ') }),
    max_age: String(maxAge),
    allow_credentials: allowCredentials,
    forward_not_matching_preflights: false,
  });
  return {
    typed_per_filter_config: { [CORS_NAME]: config },
    response_headers_to_remove: ['access-control-allow-origin', 'access-control-allow-credentials'],
    response_headers_to_add: [
      { header: { key: 'vary', value: 'Origin' }, append_action: 'APPEND_IF_EXISTS_OR_ADD' },
    ],
  };
}

/** Returns an origin as browsers write it: in lower case, and without the scheme's own port. */
function sentOrigin(origin: string): string {
  return URL.parse(origin)?.origin ?? origin;
}
