import { isUtf8 } from 'node:buffer';

/** Cookies of ours that no upstream gets, of whatever realm. The xsrf cookie stays: applications need it. */
const OWN = /^[ \t]*(?:__Host-)?gateway_(?:session|pending)\./;

/**
 * What is left of `Cookie` fields for the upstream: the other cookies, byte for byte. Each field is parsed by itself. The same array when nothing is
 * ours; a field of which nothing is left goes. Where something is ours, others that are no UTF-8 go too: Envoy takes no other bytes from us (it
 * reads `value`, not `raw_value`). Fields are one character a byte. Source: decisions, "Policy and chain".
 */
export function withoutGatewayCookies(fields: readonly string[]): readonly string[] {
  if (!fields.some(field => field.includes('gateway_'))) return fields;
  const all = fields.map(field => field.split(';'));
  if (!all.some(pairs => pairs.some(isOwn))) return fields;
  const left = all.map(pairs => pairs.filter(pair => !isOwn(pair) && isText(pair)));
  return left.map(pairs => pairs.join(';').replace(/^[ \t]+/, '')).filter(field => field !== '');
}

function isOwn(pair: string): boolean {
  return OWN.test(pair);
}

function isText(pair: string): boolean {
  return isUtf8(Buffer.from(pair, 'latin1'));
}
