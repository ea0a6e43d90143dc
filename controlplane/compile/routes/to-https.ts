import type { Json, JsonObject } from '#protos/json.ts';
import { WITHOUT_FILTERS } from '../ext-authz/ext-authz-filter.ts';

/**
 * Returns the routes that redirect to https. Envoy keeps the port of the request's host unless it
 * gets another. So requests with a port get that of https, even where no URL needs it.
 */
export function toHttps(
  name: string,
  headers: readonly Json[],
  port: number,
): readonly [JsonObject, ...JsonObject[]] {
  const route = (redirect: JsonObject, more: readonly Json[] = []): JsonObject => ({
    name,
    match: { prefix: '/', headers: [...headers, ...more] },
    redirect: { https_redirect: true, ...redirect },
    ...WITHOUT_FILTERS,
  });
  const told = { port_redirect: port };
  return port === 443 ? [route(told, [HAS_PORT]), route({})] : [route(told)];
}

const HAS_PORT: JsonObject = {
  name: ':authority',
  string_match: { safe_regex: { regex: '.*:[0-9]+' } },
};
