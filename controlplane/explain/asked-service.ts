import { ONE_READING } from '#resources/match/canonical-path.ts';
import type { EnvoyRequest } from './envoy-request.ts';
import { unmetConditions } from './route-conditions.ts';
import { EXT_AUTHZ_FILTER, type PerFilterConfig, type Route } from './route-configuration.ts';
import type { RouteMatch } from './route-match.ts';
import type { Unmet } from './unmet.ts';

/** Whether the Filter service is asked about a request that no rule closes, and why. */
export type AskedService = { readonly asked: boolean; readonly reason: string };

/** Returns whether a route or virtual host leaves the filter out that asks the service. */
export function isOff({ typed_per_filter_config }: PerFilterConfig): boolean {
  return typed_per_filter_config?.[EXT_AUTHZ_FILTER]?.disabled === true;
}

/** Returns whether a route is the part of another for paths outside every rule. */
export function isPublicRoute(match: RouteMatch): boolean {
  return isOff(match.route) && otherPart(match) !== undefined;
}

export function explainAsked(match: RouteMatch, request: EnvoyRequest): AskedService {
  const other = otherPart(match);
  if (isOff(match.route)) return { asked: false, reason: 'no rule can match' };
  const [first] = other === undefined ? [] : unmetConditions(other.match, request);
  return { asked: true, reason: first === undefined ? ANY_PATH : reasonOf(first, request) };
}

const ANY_PATH = 'a rule may match other requests of this route';

/** See public-routes.ts. Both parts do the same with their requests. */
function otherPart({ route, virtualHost }: RouteMatch): Route | undefined {
  const action = route.route ?? route.redirect;
  return action === undefined
    ? undefined
    : virtualHost.routes.find(
        other =>
          other !== route &&
          (other.route ?? other.redirect) === action &&
          isOff(other) !== isOff(route),
      );
}

function reasonOf({ reason }: Unmet, { path }: EnvoyRequest): string {
  if (!reason.startsWith('the header :path')) return `it has ${nameOf(reason)}, which is removed`;
  return ONE_WAY.test(path) ? ANY_PATH : 'its path may be read in several ways';
}

const ONE_WAY = new RegExp(`^${ONE_READING}*$`);

function nameOf(reason: string): string {
  const [, name = ''] = /^the header (\S+)/.exec(reason) ?? [];
  return name === 'cookie' ? 'a cookie of the gateway' : name;
}
