import type { JsonObject } from '#protos/json.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import type { Resource } from '#resources/resource.ts';
import { ipVersion } from '#resources/words/ip-address.ts';
import { WITHOUT_FILTERS } from '../ext-authz/ext-authz-filter.ts';
import { corsOf } from './cors.ts';
import { headerChanges } from './header-changes.ts';
import { toRank, toRouteMatch } from './mapping-match.ts';
import { replacePrefix, toRegexRewrite } from './rewrite.ts';
import type { RouteEntry } from './route-entry.ts';
import { routeParts } from './route-parts.ts';

/**
 * Returns the route of a Mapping with `host_redirect`. Filters decide before it. Envoy asks for no
 * limits where no service gets the request.
 */
export function redirectRoute({ id, spec }: Resource<'Mapping'>, isEdge: boolean): RouteEntry {
  const bypass = isEdge && spec.bypass_auth ? WITHOUT_FILTERS : {};
  return {
    rank: toRank(spec, id),
    route: {
      name: id,
      match: toRouteMatch(spec),
      redirect: toRedirect(spec),
      ...routeParts(
        bypass,
        corsOf(spec.cors),
        headerChanges({ ...spec, ...NO_SERVICE }, [], undefined),
      ),
    },
    origins: [id],
  };
}

/** No service gets the request. */
const NO_SERVICE = { add_request_headers: {}, remove_request_headers: [] };

const CODES = {
  301: 'MOVED_PERMANENTLY',
  302: 'FOUND',
  303: 'SEE_OTHER',
  307: 'TEMPORARY_REDIRECT',
  308: 'PERMANENT_REDIRECT',
} as const;

/**
 * Returns Envoy's `RedirectAction`. It always names a host, so that no path can lead to another
 * one.
 */
function toRedirect(spec: MappingSpec): JsonObject {
  const { host, port, scheme } = spec.service;
  return {
    host_redirect: ipVersion(host) === 6 ? `[${host}]` : host,
    ...(scheme === 'https' ? { https_redirect: true } : {}),
    ...(port === (scheme === 'https' ? 443 : 80) ? {} : { port_redirect: port }),
    ...pathOf(spec),
    response_code: CODES[spec.redirect_response_code],
  };
}

function pathOf(spec: MappingSpec): JsonObject {
  const { path_redirect, prefix_redirect, regex_redirect } = spec;
  if (path_redirect !== undefined) return { path_redirect };
  if (prefix_redirect !== undefined) return replacePrefix(spec, prefix_redirect);
  return regex_redirect === undefined ? {} : toRegexRewrite(regex_redirect);
}
