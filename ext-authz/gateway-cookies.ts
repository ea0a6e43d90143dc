/** Cookies of ours that no upstream gets, of whatever realm. The xsrf cookie stays: applications need it. */
const OWN = /^[ \t]*gateway_(?:session|pending)\./;

/**
 * What is left of `Cookie` fields for the upstream: the other cookies, byte for byte. Each field is parsed by itself. The same array when nothing is
 * ours; a field of which nothing is left goes. Source: decisions, "Policy and chain".
 */
export function withoutGatewayCookies(fields: readonly string[]): readonly string[] {
  if (!fields.some(field => field.includes('gateway_'))) return fields;
  const left = fields.map(withoutOwn);
  return left.every((field, index) => field === fields[index]) ? fields : left.filter(field => field !== '');
}

function withoutOwn(field: string): string {
  const pairs = field.split(';');
  const others = pairs.filter(pair => !OWN.test(pair));
  if (others.length === pairs.length) return field;
  return others.join(';').replace(/^[ \t]+/, '');
}
