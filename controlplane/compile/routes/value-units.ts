import type { JsonObject } from '#protos/json.ts';
import { GATEWAY_ROUTE, WITHOUT_FILTERS } from '../ext-authz/ext-authz-filter.ts';
import { setHeader } from '../header-option.ts';
import { type AskedHeader, listsOf } from './by-header.ts';
import { SEVERAL, type ValueCut } from './shard-header.ts';

/** Lists of routes that one shard becomes, by the domains by which Envoy chooses them. */
export type ValueUnits = ReadonlyMap<string, readonly JsonObject[]>;

/**
 * Returns a shard as a list for each value of a header, and one for all other requests. Envoy
 * compares domains in lower case, so values that differ in letter case alone share a list.
 */
export function valueUnits(
  routes: readonly JsonObject[],
  { values }: AskedHeader,
  cut: ValueCut,
): ValueUnits {
  const keys = values.map(value => value?.toLowerCase());
  const first = keys.findIndex(key => key !== undefined);
  const several = [...routes.slice(0, first), SEVERAL_VALUES];
  const lists = [...listsOf(routes, keys)].map(
    ([key, list]) => [key === undefined ? cut.otherDomain : cut.domainOf(key), list] as const,
  );
  return new Map([...lists, [cut.domainOf(SEVERAL), several]]);
}

const BODY = JSON.stringify({
  message: 'Bad request: it has a header twice, whose value chooses its route.',
  status_code: 400,
});

/**
 * Any of the values could be meant, and a list with the routes of all of them would change with
 * each of them.
 */
export const SEVERAL_VALUES = {
  name: GATEWAY_ROUTE,
  match: { prefix: '/' },
  direct_response: { status: 400, body: { inline_string: BODY } },
  response_headers_to_add: [setHeader('content-type', 'application/json')],
  ...WITHOUT_FILTERS,
} as const satisfies JsonObject;
