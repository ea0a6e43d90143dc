import { type Budget, checkLength, spend } from './budget.ts';
import { CallError } from './function.ts';
import { rawByte } from './go-string.ts';
import type { GoField, GoMap, GoValue } from './go-type.ts';
import { isComplex, isInt, isMap, isSlice, isStruct, sortedKeys } from './go-value.ts';

const ESCAPED: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** Characters of which some are escaped. */
const NEEDS_CARE = /["\\<>&\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u;

/** The text so far, and what each line begins with. */
type Writer = { out: string; readonly indent: string; readonly budget: Budget };

/**
 * Writes a value as JSON, like Go's json.MarshalIndent. Each line begins with `indent`, also the
 * first one, unlike Go's. Levels are indented by tabs. Keys are sorted, and the fields of a struct
 * keep their order.
 */
export function formatJson(indent: string, value: GoValue, budget: Budget): string {
  const writer: Writer = { out: indent, indent, budget };
  writeJson(writer, value, 0);
  return writer.out;
}

function write(writer: Writer, text: string): void {
  checkLength(writer.budget, writer.out.length + text.length);
  spend(writer.budget, 0, text.length);
  writer.out += text;
}

function writeJson(writer: Writer, value: GoValue, depth: number): void {
  spend(writer.budget, 1);
  if (isMap(value)) writeObject(writer, membersOf(value), depth);
  else if (isStruct(value))
    writeObject(writer, fieldsOf(value.type.fields ?? [], value.values), depth);
  else if (isSlice(value) && !value.isNil) writeArray(writer, value.items, depth);
  else write(writer, scalarJson(value));
}

function scalarJson(value: GoValue): string {
  if (typeof value === 'string') return quoteJson(value);
  if (typeof value === 'number') return numberJson(value);
  if (isInt(value)) return String(value.value);
  if (isSlice(value)) return 'null';
  if (isComplex(value)) throw new CallError('json: unsupported type: complex128');
  return String(value);
}

function membersOf(map: GoMap): (readonly [string, GoValue])[] {
  return sortedKeys(map)
    .filter(key => !map.hidden.has(key))
    .map(key => [key, map.entries.get(key) ?? null] as const);
}

function fieldsOf(
  fields: readonly GoField[],
  values: readonly GoValue[],
): (readonly [string, GoValue])[] {
  return fields
    .map((field, index) => ({ field, value: values[index] ?? null }))
    .filter(({ field, value }) => !(field.omitEmpty === true && isEmpty(value)))
    .map(({ field, value }) => [field.json ?? field.name, value] as const);
}

/** Whether `omitempty` leaves a value out. */
function isEmpty(value: GoValue): boolean {
  if (isInt(value)) return Number(value.value) === 0;
  if (isMap(value)) return value.entries.size === 0;
  if (isSlice(value)) return value.items.length === 0;
  return value === null || value === false || value === 0 || value === '';
}

function writeObject(
  writer: Writer,
  members: readonly (readonly [string, GoValue])[],
  depth: number,
): void {
  write(writer, '{');
  for (const [index, [key, value]] of members.entries()) {
    startLine(writer, index, depth + 1);
    write(writer, `${quoteJson(key)}: `);
    writeJson(writer, value, depth + 1);
  }
  if (members.length > 0) startLine(writer, 0, depth);
  write(writer, '}');
}

function writeArray(writer: Writer, items: readonly GoValue[], depth: number): void {
  write(writer, '[');
  for (const [index, item] of items.entries()) {
    startLine(writer, index, depth + 1);
    writeJson(writer, item, depth + 1);
  }
  if (items.length > 0) startLine(writer, 0, depth);
  write(writer, ']');
}

/** Begins the line of the member or element `index`. */
function startLine(writer: Writer, index: number, depth: number): void {
  write(writer, `${index > 0 ? ',' : ''}\n${writer.indent}${'\t'.repeat(depth)}`);
}

function numberJson(value: number): string {
  if (!Number.isFinite(value))
    throw new CallError(
      `json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`,
    );
  return Object.is(value, -0) ? '-0' : String(value);
}

/** Quotes a string in JSON. What HTML or JavaScript would misread is escaped, as Go does. */
function quoteJson(text: string): string {
  if (!NEEDS_CARE.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const rune of text) quoted += ESCAPED.get(rune) ?? escapeRune(rune);
  return `${quoted}"`;
}

function escapeRune(rune: string): string {
  if (rawByte(rune) !== undefined) return '\\ufffd';
  if (rune < ' ' || '<>&\u2028\u2029'.includes(rune))
    return `\\u${rune.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return rune;
}
