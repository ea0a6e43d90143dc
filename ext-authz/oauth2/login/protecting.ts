import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { LoginFilter } from '#ext-authz/oauth2/session/login-filter.ts';
import type { Place } from '#ext-authz/oauth2/session/origin.ts';

/** A Filter that protects the request's origin. */
export type Protecting = { readonly filter: LoginFilter; readonly place: Place };

/** Returns the Filters that protect the request's origin. */
export function protecting(
  request: HttpRequest,
  filters: readonly LoginFilter[],
): readonly Protecting[] {
  return filters.flatMap(filter => {
    const place = filter.placeOf(request);
    return place === undefined ? [] : [{ filter, place }];
  });
}
