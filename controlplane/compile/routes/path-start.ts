import { isJsonObject, type JsonObject } from '#protos/json.ts';

/**
 * Where the paths begin that a route can match, in lower case and printable ASCII. `isWhole`: it
 * can match no other path than this one.
 */
export type PathStart = { readonly start: string; readonly isWhole: boolean };

/**
 * Returns what all paths have in common that Envoy's `RouteMatch` can match, in any letter case.
 */
export function pathStart(match: JsonObject): PathStart {
  const { path, path_separated_prefix, prefix, safe_regex } = match;
  if (typeof path === 'string') return { ...printable(path), isWhole: printable(path).isAll };
  if (isJsonObject(safe_regex))
    return { start: regexStart(String(safe_regex.regex)), isWhole: false };
  const start = prefix ?? path_separated_prefix;
  return { start: typeof start === 'string' ? printable(start).start : '', isWhole: false };
}

/** Envoy compares letter case in ASCII alone. */
function printable(text: string): { readonly start: string; readonly isAll: boolean } {
  const [start = ''] = /^[\x21-\x7e]*/.exec(text) ?? [];
  const lower = start.replaceAll(/[A-Z]+/g, letters => letters.toLowerCase());
  return { start: lower, isAll: start.length === text.length };
}

/**
 * Returns the literal start of an RE2 expression for a whole path. An alternative anywhere could
 * begin otherwise, so there is none then.
 */
function regexStart(regex: string): string {
  if (regex.includes('|')) return '';
  const [literal = ''] = /^\^?(?:[\w/%~!@&=:;,'" <>-]|\\[^\w\s])*/.exec(regex) ?? [];
  // What stands before a quantifier may occur no time.
  const isOptional = /^[*?{]/.test(regex.slice(literal.length));
  const units = literal.replace(/^\^/, '').match(/\\?./g) ?? [];
  const certain = isOptional ? units.slice(0, -1) : units;
  return printable(certain.map(unit => unit.at(-1)).join('')).start;
}
