import type { MappingMatch } from '#resources/kinds/mapping/mapping-match.ts';
import { compareText } from '#resources/words/order.ts';
import { regexTexts } from './regex-texts.ts';
import { ANY } from './region.ts';

/**
 * What a request has beside host and path: `method`, `header x-tenant`, `parameter v` → its value,
 * or undefined when it lacks that. Values may be credentials.
 */
export type Conditions = ReadonlyMap<string, string | undefined>;

/** What stands in front of a name in `Conditions`. */
export const HEADER = 'header ';
export const PARAMETER = 'parameter ';
export const METHOD = 'method';

/** The most combinations of values that are tried at one host and path. */
const MOST_COMBINATIONS = 256;

/** No resource names this method. */
const ANY_METHOD = 'X9ANY';
const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * Returns combinations that differ in all that these matches ask for. Of very many it returns the
 * first ones, in which what the first matches ask for differs.
 */
export function combinationsOf(matches: readonly Asked[]): readonly Conditions[] {
  let combinations: readonly Conditions[] = [new Map()];
  for (const [name, values] of valuesOf(matches)) {
    if (combinations.length * values.size > MOST_COMBINATIONS) break;
    combinations = combinations.flatMap(each =>
      [...values].map(value => new Map([...each, [name, value]])),
    );
  }
  return combinations;
}

/** What a route asks for beside host and path. */
export type Asked = Pick<
  MappingMatch,
  'headers' | 'regex_headers' | 'query_parameters' | 'regex_query_parameters'
> & { readonly method?: string; readonly method_regex: boolean };

type Values = ReadonlyMap<string, ReadonlySet<string | undefined>>;

function valuesOf(matches: readonly Asked[]): Values {
  const values = new Map<string, Set<string | undefined>>();
  const add = (name: string, ...more: readonly (string | undefined)[]) =>
    values.set(name, new Set([...(values.get(name) ?? []), ...more]));
  for (const match of matches) {
    const { method, method_regex } = match;
    if (method !== undefined && method_regex) add(METHOD, ...METHODS, ...regexTexts(method));
    if (method !== undefined) add(METHOD, ...(method_regex ? [] : [method]), ANY_METHOD);
    for (const [name, wanted] of exactOf(match))
      add(name, undefined, ...(wanted === true ? [] : [wanted]), ANY);
    for (const [name, regex] of expressionsOf(match))
      add(name, undefined, ...regexTexts(regex), ANY);
  }
  return values;
}

/** The host is not among them, since requests are tried by host anyway. */
function exactOf({ headers, query_parameters }: Asked) {
  return [...named(HEADER, headers), ...named(PARAMETER, query_parameters)];
}

function expressionsOf({ regex_headers, regex_query_parameters }: Asked) {
  return [...named(HEADER, regex_headers), ...named(PARAMETER, regex_query_parameters)];
}

function named<T>(what: string, record: Readonly<Record<string, T>>) {
  return Object.entries(record)
    .filter(([name]) => !name.startsWith(':'))
    .map(([name, value]) => [`${what}${name}`, value] as const);
}

/** Returns what a Mapping asks for, of which no value is known. Such requests cannot be tried. */
export function untriedOf(match: MappingMatch): readonly string[] {
  return expressionsOf(match)
    .filter(([, regex]) => regexTexts(regex).length === 0)
    .map(([name]) => name);
}

/**
 * Returns in words what some of the tried requests have in common, such as `method POST` and
 * `without header x-tenant`. Nothing is said of what all of them have.
 */
export function conditionTexts(
  some: readonly Conditions[],
  tried: readonly Conditions[],
): readonly string[] {
  const names = new Set(tried.flatMap(each => [...each.keys()]));
  return [...names].sort(methodFirst).flatMap(name => {
    const valuesIn = (all: readonly Conditions[]) =>
      new Set(all.filter(each => each.has(name)).map(each => each.get(name)));
    const values = valuesIn(some);
    const all = valuesIn(tried);
    const isAny = some.some(each => !each.has(name));
    if (isAny || values.size === all.size) return [];
    return [name === METHOD ? methodText(values, all) : valueText(name, values, all)];
  });
}

function methodFirst(a: string, b: string): number {
  return Number(b === METHOD) - Number(a === METHOD) || compareText(a, b);
}

type Known = ReadonlySet<string | undefined>;

function methodText(values: Known, all: Known): string {
  if (!values.has(ANY_METHOD)) return `method ${[...values].join(' or ')}`;
  return `method other than ${[...all].filter(value => !values.has(value)).join(' or ')}`;
}

/** A value of a header or parameter is never shown. */
function valueText(name: string, values: Known, all: Known): string {
  const named = namedIn(values);
  const isSome = named < namedIn(all);
  const given = values.has(ANY)
    ? isSome
      ? 'another value of'
      : 'any'
    : isSome
      ? 'a value of'
      : '';
  const other = values.has(ANY) ? 'with another value' : 'with a value that is not shown';
  if (!values.has(undefined)) return ['with', given, name].filter(text => text !== '').join(' ');
  return named === 0 && !values.has(ANY) ? `without ${name}` : `without ${name}, or ${other}`;
}

function namedIn(values: Known): number {
  return [...values].filter(value => value !== undefined && value !== ANY).length;
}
