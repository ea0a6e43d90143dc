import { isUtf8 } from 'node:buffer';

/**
 * Cookies of ours that no upstream gets, of whatever realm. The xsrf cookie stays: applications
 * need it.
 */
const OWN = /^[ \t]*(?:__Host-)?gateway_(?:session|pending)\./;

/**
 * What is left of `Cookie` fields for the upstream: the other cookies, byte for byte. Each field is
 * parsed by itself. The same array when nothing is ours; a field of which nothing is left goes.
 * Where something is ours, others that are no UTF-8 go too: Envoy takes no other bytes from us (it
 * reads `value`, not `raw_value`). Fields are one character a byte. Of `only`, cookies go on with
 * that value alone.
 */
export function withoutGatewayCookies(
  fields: readonly string[],
  only: ReadonlyMap<string, string> = new Map(),
): readonly string[] {
  if (!fields.some(field => field.includes('gateway_'))) return fields;
  const all = fields.map(field => field.split(';'));
  const isTaken = (pair: string) => OWN.test(pair) || isPlanted(pair, only);
  if (!all.some(pairs => pairs.some(isTaken))) return fields;
  const left = all.map(pairs => pairs.filter(pair => !isTaken(pair) && isText(pair)));
  return left.map(pairs => pairs.join(';').replace(/^[ \t]+/, '')).filter(field => field !== '');
}

/**
 * Applications may take more for white space than we do, so that the name is compared without it.
 */
function isPlanted(pair: string, only: ReadonlyMap<string, string>): boolean {
  if (only.size === 0) return false;
  const begin = pair.indexOf('=');
  const value = only.get(pair.slice(0, Math.max(0, begin)).replace(/[^!-~]/g, ''));
  return value !== undefined && pair.slice(begin + 1).trim() !== value;
}

function isText(pair: string): boolean {
  return isUtf8(Buffer.from(pair, 'latin1'));
}
