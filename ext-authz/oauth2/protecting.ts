import type { HttpRequest } from '../http-request.ts';
import type { LoginFilter } from './login-filter.ts';
import { type Place, placeOf } from './origin.ts';

/** A Filter that protects the request's origin. */
export type Protecting = { readonly filter: LoginFilter; readonly place: Place };

/** Those of the Filters that do. */
export function protecting(request: HttpRequest, filters: readonly LoginFilter[]): readonly Protecting[] {
  return filters.flatMap(filter => {
    const place = placeOf(filter.settings.protectedOrigins, request);
    return place === undefined ? [] : [{ filter, place }];
  });
}
