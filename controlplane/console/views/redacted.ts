import { HIDDEN_TEXT, VALUED_FIELDS } from '#controlplane/diff/field-changes.ts';
import { type Fields, isFields } from '#resources/words/fields.ts';

/** Names of headers and labels whose values may be credentials. */
export const SENSITIVE =
  /auth(?!ority|ors?\b)|cookie|secret|token|passw|credential|session|signature|jwt|api[-_]?key|(?:^|[-_])(?<!generic[-_])(?:key|sig)(?:$|[-_])/i;

/** Names of fields whose texts may be credentials. */
const SECRET =
  /authorization|cookie|secret|token|password|credential|api-?key|last-applied-configuration/i;

/** Fields of Mappings and of routes of Gateways with values of headers and parameters. */
const VALUED = new RegExp(`^(?:${VALUED_FIELDS}|ifRequestHeader)$`);

/** Returns a copy of JSON without values that may be credentials. */
export function redacted(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(redacted);
  if (!isFields(json)) return json;
  return mapped(json, (field, value) => {
    if (VALUED.test(field)) return withoutValues(value, field === 'ifRequestHeader');
    // Names and references are shown, since they are no credentials.
    const isSecret = typeof value === 'string' || (isFields(value) && 'value' in value);
    return isSecret && SECRET.test(field) ? HIDDEN_TEXT : redacted(value);
  });
}

/** Hides values by name. An item of a list has its name beside the value. */
function withoutValues(json: unknown, isItem = false): unknown {
  if (Array.isArray(json)) return json.map(each => withoutValues(each, true));
  if (!isFields(json) || isPseudo(json.name)) return json;
  return mapped(json, (field, value) => {
    const isName = isItem && (field === 'name' || field === 'type');
    if (isName || typeof value === 'boolean' || isPseudo(field)) return value;
    return typeof value === 'object' ? withoutValues(value) : HIDDEN_TEXT;
  });
}

/** What the request line says, such as `:authority`, is no credential. */
function isPseudo(name: unknown): boolean {
  return typeof name === 'string' && name.startsWith(':');
}

function mapped(map: Fields, change: (field: string, value: unknown) => unknown): Fields {
  return Object.fromEntries(
    Object.entries(map).map(([field, value]) => [field, change(field, value)]),
  );
}
