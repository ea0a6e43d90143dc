import { isUtf8 } from 'node:buffer';

/**
 * The gateway's cookies that no upstream gets, of any realm. The xsrf cookie stays, because
 * applications need it.
 */
const GATEWAY_COOKIE = /^[ \t]*(?:__Host-)?gateway_(?:session|pending)\./;

/**
 * Returns what is left of `Cookie` fields for the upstream: the other cookies, byte for byte.
 * Returns the same array when none is the gateway's. A field of which nothing is left is removed.
 * Each field is parsed by itself, with one character for each byte. Of `only`, cookies go on with
 * that value alone.
 *
 * Where one is the gateway's, others that are not UTF-8 are removed too. Envoy takes no other bytes
 * from ext-authz, because it reads `value` and not `raw_value`.
 */
export function withoutGatewayCookies(
  fields: readonly string[],
  only: ReadonlyMap<string, string> = new Map(),
): readonly string[] {
  return without(fields, pair => GATEWAY_COOKIE.test(pair) || isPlanted(pair, only));
}

/** Returns what is left of `Cookie` fields for a later check: all but what `only` rules out. */
export function withoutPlantedCookies(
  fields: readonly string[],
  only: ReadonlyMap<string, string> = new Map(),
): readonly string[] {
  return without(fields, pair => isPlanted(pair, only));
}

function without(fields: readonly string[], isTaken: (pair: string) => boolean): readonly string[] {
  if (!fields.some(field => field.includes('gateway_'))) return fields;
  const all = fields.map(field => field.split(';'));
  if (!all.some(pairs => pairs.some(isTaken))) return fields;
  const left = all.map(pairs => pairs.filter(pair => !isTaken(pair) && isText(pair)));
  return left.map(pairs => pairs.join(';').replace(/^[ \t]+/, '')).filter(field => field !== '');
}

function isPlanted(pair: string, only: ReadonlyMap<string, string>): boolean {
  // All read letters alike, and most cookies are told apart by them.
  if (only.size === 0 || !pair.includes('gateway')) return false;
  const begin = pair.indexOf('=');
  const name = nameAsRead(pair.slice(0, Math.max(0, begin)));
  const own = [...only].find(([each]) => nameAsRead(each) === name);
  return own !== undefined && pair.slice(begin + 1).trim() !== own[1];
}

/**
 * Returns a cookie's name as applications may read it. Some count more characters as white space
 * than the gateway does. PHP makes `_` of dots, spaces and brackets. See
 * https://www.php.net/manual/en/language.variables.external.php
 */
export function nameAsRead(name: string): string {
  const [shown = ''] = /[!-~](?:.*[!-~])?/s.exec(name) ?? [];
  return shown.replace(/[ .[]/g, '_');
}

function isText(pair: string): boolean {
  return isUtf8(Buffer.from(pair, 'latin1'));
}
