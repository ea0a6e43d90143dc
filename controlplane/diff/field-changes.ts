import { formatHostPort } from '#grpc/host-port.ts';
import { SecretValue } from '#resources/words/secret-value.ts';
import type { FieldChange } from './difference.ts';

/** The longest text of a value. */
const LONGEST = 200;

/** The most fields of one resource. */
const MOST_FIELDS = 100;

/** Returns the fields that differ between two versions of a spec. */
export function fieldChanges(before: object, after: object): readonly FieldChange[] {
  const found: FieldChange[] = [];
  compare('', before, after, found);
  return found.slice(0, MOST_FIELDS);
}

function compare(field: string, before: unknown, after: unknown, found: FieldChange[]): void {
  if (found.length > MOST_FIELDS || isSame(before, after)) return;
  if (isList(before) && isList(after)) compareLists(field, before, after, found);
  else if (isMap(before) && isMap(after))
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      compare(field === '' ? key : `${field}.${key}`, before[key], after[key], found);
  else found.push({ field, ...side('before', field, before), ...side('after', field, after) });
}

/** Items that stand in both lists are no change, wherever they stand. */
function compareLists(
  field: string,
  before: readonly unknown[],
  after: readonly unknown[],
  found: FieldChange[],
): void {
  const gone = without(before, after);
  const come = without(after, before);
  if (gone.length === 0 && come.length === 0) {
    found.push({ field, before: 'this order', after: 'another order' });
    return;
  }
  if (gone.length === come.length) {
    for (const [at, [index, item]] of gone.entries())
      compare(`${field}[${index}]`, item, come[at]?.[1], found);
    return;
  }
  for (const [index, item] of gone)
    found.push({ field: `${field}[${index}]`, ...side('before', field, item) });
  for (const [index, item] of come)
    found.push({ field: `${field}[${index}]`, ...side('after', field, item) });
}

/** Returns the items, with their indexes, that the other list has not, or has less often. */
function without(list: readonly unknown[], other: readonly unknown[]) {
  const left = new Map<string, number>();
  for (const item of other) left.set(keyOf(item), (left.get(keyOf(item)) ?? 0) + 1);
  return [...list.entries()].filter(([, item]) => {
    const count = left.get(keyOf(item)) ?? 0;
    if (count > 0) left.set(keyOf(item), count - 1);
    return count === 0;
  });
}

/** Secrets count by their bytes here. The text is never shown. */
function keyOf(value: unknown): string {
  return (
    JSON.stringify(value, function reveal(key, text) {
      const own: unknown = (this as Record<string, unknown>)[key];
      return own instanceof SecretValue ? Buffer.from(own.reveal()).toString('base64') : text;
    }) ?? ''
  );
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || keyOf(a) === keyOf(b);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** What is shown as one value is no map. */
function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !isList(value) &&
    !(value instanceof SecretValue) &&
    !isAddress(value)
  );
}

function side<S extends 'before' | 'after'>(key: S, field: string, value: unknown) {
  return value === undefined
    ? {}
    : ({ [key]: textOf(field, value) } as { readonly [K in S]: string });
}

/** Returns a value in one line. */
function textOf(field: string, value: unknown): string {
  if (value instanceof SecretValue || HIDDEN.test(field)) return HIDDEN_TEXT;
  if (isAddress(value)) return addressText(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value, hide);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

export const HIDDEN_TEXT = '(not shown)';

/** Fields of our kinds and of routes of Gateways with values that may be credentials. */
export const VALUED_FIELDS =
  'add_re(?:quest|sponse)_headers|(?:regex_)?headers|(?:regex_)?query_parameters|queryParams|re(?:quest|sponse)HeaderModifier';

/** An item of a list has its name beside the value. */
const HIDDEN = new RegExp(
  `(?:^|\\.)(?:${VALUED_FIELDS})(?:$|\\.|\\[\\d+\\](?!\\.(?:name|type)$))|\\.ifRequestHeader\\.(?!name$|negate$)`,
);
const VALUED = new RegExp(`^(?:${VALUED_FIELDS})$`);

function hide(key: string, value: unknown): unknown {
  if (isAddress(value)) return addressText(value);
  if (VALUED.test(key)) return HIDDEN_TEXT;
  return key === 'ifRequestHeader' && isMap(value) ? { name: value.name } : value;
}

type Address = { readonly scheme?: string; readonly host: string; readonly port: number };

function isAddress(value: unknown): value is Address {
  if (typeof value !== 'object' || value === null) return false;
  const { host, port, ...rest } = value as Record<string, unknown>;
  return (
    typeof host === 'string' &&
    typeof port === 'number' &&
    Object.keys(rest).every(key => key === 'scheme' || key === 'portGiven')
  );
}

/** Formats an address. A port that was not written is the scheme's. */
export function addressText({ scheme, host, port }: Address): string {
  return `${scheme === 'https' ? 'https://' : ''}${formatHostPort({ host, port })}`;
}
