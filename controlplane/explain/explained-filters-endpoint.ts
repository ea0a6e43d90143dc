import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import {
  CALLBACK_PATH,
  LOGIN_PATH,
  LOGOUT_PATH,
  placeOf as originOf,
} from '#ext-authz/oauth2/session/origin.ts';
import type { Definitions } from '#ext-authz/policy/filter-settings.ts';
import { resourceId } from '#resources/resource.ts';
import { type ExplainedOrigin, requestOrigin, shownOrigin } from './explained-filters-chain.ts';
import { type Place, placeOf } from './place.ts';

/** A request to one of the gateway's own paths. No rule applies, and no upstream gets it. */
export type ExplainedEndpoint = {
  readonly decision: 'endpoint';
  readonly endpoint: 'callback' | 'login' | 'logout' | 'unknown';
  readonly requestOrigin: string;
  /** The Filters that protect the request's origin. */
  readonly filters: readonly (Place & { readonly origin: ExplainedOrigin })[];
};

const ENDPOINTS: ReadonlyMap<string, ExplainedEndpoint['endpoint']> = new Map([
  [CALLBACK_PATH, 'callback'],
  [LOGIN_PATH, 'login'],
  [LOGOUT_PATH, 'logout'],
]);

/** Explains a request to one of the gateway's own paths (docs/reference/kinds/filter.md). */
export function explainEndpoint(
  request: Pick<HttpRequest, 'authority' | 'scheme' | 'target'>,
  {
    definitions,
    places,
  }: { readonly definitions: Definitions; readonly places: ReadonlyMap<string, Place> },
): ExplainedEndpoint {
  const [path = ''] = request.target.split(/[?#]/, 1);
  const filters = [...definitions.values()].flatMap(({ name, namespace, settings, type }) => {
    const place = type === 'OAuth2' ? originOf(settings.protectedOrigins, request) : undefined;
    if (place === undefined) return [];
    return [
      { ...placeOf(places, resourceId('Filter', namespace, name)), origin: shownOrigin(place) },
    ];
  });
  const endpoint = ENDPOINTS.get(path) ?? 'unknown';
  return { decision: 'endpoint', endpoint, requestOrigin: requestOrigin(request), filters };
}
