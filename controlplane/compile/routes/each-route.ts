import type { JsonObject } from '#protos/json.ts';
import type { Memo } from '../memo.ts';

/** What is made of each route of a virtual host. */
export type RouteStep = {
  readonly what: string;
  /** All that `make` depends on besides the route. */
  readonly owner: object;
  make(route: JsonObject): readonly JsonObject[];
};

/** Returns what a step makes of the routes, in their order. It makes it once of each route. */
export function eachRoute(
  routes: readonly JsonObject[],
  { make, owner, what }: RouteStep,
  memo: Memo,
): readonly JsonObject[] {
  const made = memo.of(owner, what, [], () => new WeakMap<JsonObject, readonly JsonObject[]>());
  return routes.flatMap(route => {
    const known = made.get(route) ?? make(route);
    made.set(route, known);
    return known;
  });
}
