import { isJsonObject, type JsonObject } from '#protos/json.ts';
import type { HttpRouteFilter } from '#resources/kinds/http-route/http-route-spec.ts';
import { pathChange } from './rule-rewrite.ts';

type Redirect = NonNullable<HttpRouteFilter['requestRedirect']>;

const CODES: Readonly<Record<number, string>> = {
  301: 'MOVED_PERMANENTLY',
  302: 'FOUND',
  303: 'SEE_OTHER',
  307: 'TEMPORARY_REDIRECT',
  308: 'PERMANENT_REDIRECT',
};

const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

/** The listener of a request, as far as its redirects depend on it. */
export type Asked = { readonly port: number; readonly scheme: 'http' | 'https' };

/**
 * Returns Envoy's `RedirectAction`. Without a port it is that of the new scheme, else that of the
 * listener. Source: Gateway API's comment of `requestRedirect.port`.
 */
export function redirectAction(
  { hostname, path, port, scheme, statusCode }: Redirect,
  prefix: string | undefined,
  asked: Asked,
): JsonObject {
  const target = scheme ?? asked.scheme;
  const to = port ?? (scheme === undefined ? asked.port : DEFAULT_PORTS[scheme]);
  // Envoy leaves the port of the request out where it was the default of its scheme. A new host has
  // none.
  const isLeftOut = hostname !== undefined || asked.port === DEFAULT_PORTS[asked.scheme];
  const isImplied = to === DEFAULT_PORTS[target] && isLeftOut;
  return {
    ...(scheme === undefined ? {} : { scheme_redirect: scheme }),
    ...(hostname === undefined ? {} : { host_redirect: hostname }),
    ...(isImplied || to === undefined ? {} : { port_redirect: to }),
    ...pathChange(path, prefix, 'path_redirect'),
    response_code: CODES[statusCode] ?? 'FOUND',
  };
}

/**
 * Returns a route of a domain, whose redirect names no port that its scheme implies. Envoy replaces
 * the port of the request by none only together with the host, which a wildcard does not tell.
 */
export function withoutImpliedPort(
  route: JsonObject,
  domain: string,
  { scheme }: Asked,
): JsonObject {
  const { redirect } = route;
  if (!isJsonObject(redirect) || domain.startsWith('*')) return route;
  const { port_redirect, ...rest } = redirect;
  const implied = DEFAULT_PORTS[String(redirect.scheme_redirect ?? scheme)];
  if (port_redirect !== implied) return route;
  return { ...route, redirect: { ...rest, host_redirect: domain } };
}
