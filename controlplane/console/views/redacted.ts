/** Names of headers whose values may be credentials. */
export const SENSITIVE = /authorization|cookie|secret|token|password|credential|api-?key/i;

/**
 * Returns a copy of JSON without values that may be credentials: what stands under a sensitive
 * name, and the `value` beside a sensitive `key` or `name`.
 */
export function redacted(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(redacted);
  if (typeof json !== 'object' || json === null) return json;
  const named = Object.entries(json).some(
    ([field, value]) => /^(?:key|name|header_name)$/.test(field) && SENSITIVE.test(String(value)),
  );
  return Object.fromEntries(
    Object.entries(json).map(([field, value]) => [
      field,
      isHidden(field, value, named) ? HIDDEN : redacted(value),
    ]),
  );
}

export const HIDDEN = '(hidden)';

/** Names and references are shown, since they are no credentials. */
function isHidden(field: string, value: unknown, named: boolean): boolean {
  if (named && /value|match/.test(field)) return true;
  return SENSITIVE.test(field) && (typeof value === 'string' || isValue(value));
}

function isValue(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'value' in value;
}
