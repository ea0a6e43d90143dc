import type { Breach } from '../gateway-api/rules.ts';
import type { HttpRouteFilter } from './http-route-filter.ts';
import type { HttpRouteMatch } from './http-route-match.ts';

type Filters = { readonly filters: readonly HttpRouteFilter[] };
type Rule = Filters & {
  readonly matches: readonly HttpRouteMatch[];
  readonly backendRefs: readonly Filters[];
};

/** Returns what is wrong between the fields of a rule. */
export function ruleBreaches({ matches, filters, backendRefs }: Rule): readonly Breach[] {
  const redirect = filters.findIndex(({ requestRedirect }) => requestRedirect !== undefined);
  const [match] = matches;
  const isPrefix = matches.length === 1 && match?.path.type === 'PathPrefix';
  return [
    ...(redirect >= 0 && backendRefs.length > 0
      ? [{ path: ['filters', redirect], message: 'a rule with a RequestRedirect has no backends' }]
      : []),
    ...(isPrefix ? [] : prefixBreaches(filters, ['filters'])),
    ...(isPrefix
      ? []
      : backendRefs.flatMap((backend, index) =>
          prefixBreaches(backend.filters, ['backendRefs', index, 'filters']),
        )),
  ];
}

/** Only one prefix can be replaced. */
function prefixBreaches(
  filters: readonly HttpRouteFilter[],
  at: readonly (string | number)[],
): readonly Breach[] {
  return filters.flatMap(({ requestRedirect, urlRewrite }, index) => {
    const path = requestRedirect?.path ?? urlRewrite?.path;
    if (path?.replacePrefixMatch === undefined) return [];
    const message = '`replacePrefixMatch` needs one match in the rule, a `PathPrefix`';
    return [{ path: [...at, index], message }];
  });
}

const MOST_MATCHES = 128;

/** Returns what is wrong between the rules of a route. */
export function routeBreaches(
  rules: readonly { readonly name?: string; readonly matches: readonly unknown[] }[],
): readonly Breach[] {
  const count = rules.reduce((sum, { matches }) => sum + matches.length, 0);
  const names = rules.map(({ name }) => name);
  const repeated = names.flatMap((name, index) =>
    name !== undefined && names.indexOf(name) < index
      ? [{ path: [index, 'name'], message: `there is a rule "${name}" before` }]
      : [],
  );
  const message = `a route may have ${MOST_MATCHES} matches in all its rules, not ${count}`;
  return [...repeated, ...(count > MOST_MATCHES ? [{ path: [], message }] : [])];
}
