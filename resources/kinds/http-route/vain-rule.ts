import { caution, type FieldPath, type Finding } from '#resources/finding.ts';
import { NEVER_IN_QUERY } from '#resources/match/query-match.ts';
import { OWN_SERVER, UNDERSCORE } from '#resources/traffic/edge-headers.ts';
import { whyUnreachable, whyUnreachableByRegex } from '#resources/traffic/unreachable-prefix.ts';
import type { HeaderModifier } from '../gateway-api/header-modifier.ts';
import type { HttpRouteMatch } from './http-route-match.ts';

/** A rule of an HTTPRoute or a GRPCRoute. */
type Rule = {
  readonly matches: readonly Match[];
  readonly filters: readonly Filter[];
  readonly backendRefs: readonly { readonly filters: readonly Filter[] }[];
  readonly sessionPersistence?: { readonly header?: { readonly name: string } };
};

type Match = Partial<Pick<HttpRouteMatch, 'path' | 'queryParams'>> & {
  readonly headers: readonly { readonly name: string }[];
};

type Filter = { readonly responseHeaderModifier?: HeaderModifier };

/** Finds what a rule asks for in vain, because of what the edge does to every request. */
export function vainRule(rule: Rule, index: number): readonly Finding[] {
  const { backendRefs, filters, matches, sessionPersistence } = rule;
  const at = ['rules', index];
  const header = sessionPersistence?.header?.name ?? '';
  return [
    ...matches.flatMap((match, place) => unmet(match, [...at, 'matches', place])),
    ...overwritten(filters, at),
    ...backendRefs.flatMap(({ filters }, place) =>
      overwritten(filters, [...at, 'backendRefs', place]),
    ),
    ...(header.includes('_')
      ? [caution([...at, 'sessionPersistence', 'header', 'name'], UNDERSCORE)]
      : []),
  ];
}

/** Finds what no request meets. The API leaves the encoding of paths and parameters open. */
function unmet({ headers, path, queryParams = [] }: Match, at: FieldPath): readonly Finding[] {
  const whyNot = path?.type === 'RegularExpression' ? whyUnreachableByRegex : whyUnreachable;
  const why = path && whyNot(path.value);
  return [
    ...(why === undefined ? [] : [caution([...at, 'path', 'value'], why)]),
    ...headers.flatMap(({ name }, place) =>
      name.includes('_') ? [caution([...at, 'headers', place, 'name'], UNDERSCORE)] : [],
    ),
    ...queryParams.flatMap(({ type, value }, place) =>
      type === 'Exact' && NEVER_IN_QUERY.test(value)
        ? [caution([...at, 'queryParams', place, 'value'], UNMET)]
        : [],
    ),
  ];
}

const UNMET =
  'no request meets this: it has a character that is never part of a query. Write it percent-encoded, as clients send it';

function overwritten(filters: readonly Filter[], at: FieldPath): readonly Finding[] {
  return filters.flatMap(({ responseHeaderModifier }, place) => {
    const { add = [], remove = [], set = [] } = responseHeaderModifier ?? {};
    const names = [...[...add, ...set].map(({ name }) => name), ...remove];
    return names.some(name => name.toLowerCase() === 'server')
      ? [caution([...at, 'filters', place, 'responseHeaderModifier'], OWN_SERVER)]
      : [];
  });
}
