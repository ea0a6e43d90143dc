import * as z from 'zod';
import { type FieldPath, type Finding, fault } from '#resources/finding.ts';
import { suggest } from '#resources/words/suggest.ts';
import { childOf, choicesOf, metaOf, unwrap } from './schema-walk.ts';
import { valueAt } from './value-at.ts';

const LONGEST_SHOWN = 80;

/**
 * Explains one finding of the schema library in plain words. A value whose schema is marked secret
 * is not shown.
 */
export function explainIssue(
  schema: z.core.$ZodType,
  input: unknown,
  issue: z.core.$ZodIssue,
): Finding {
  const path = issue.path.map(key => (typeof key === 'number' ? key : String(key)));
  return fault(path, explain(schemaAt(schema, path), valueAt(input, path), path, issue));
}

function explain(
  schema: z.core.$ZodType | undefined,
  value: unknown,
  path: FieldPath,
  issue: z.core.$ZodIssue,
): string {
  const meta = schema === undefined ? {} : metaOf(schema);
  const field = nameOf(path);
  const form =
    meta.form ?? (schema === undefined ? undefined : formOf(schema)) ?? 'of another form';
  if (issue.code === 'custom') return issue.message;
  if (issue.code === 'invalid_key')
    return `"${String(path.at(-1))}" may not be a key here: ${issue.issues[0]?.message ?? 'it has a wrong form'}`;
  if (value === undefined) return `${field} is required: ${form}`;
  if (isEmpty(value) && issue.code === 'too_small') return `${field} must not be empty`;
  const hint =
    typeof value === 'string' && schema !== undefined ? suggest(value, choicesOf(schema)) : '';
  return `${field} must be ${form}${meta.secret === true ? '' : `, not ${show(value)}`}${hint}`;
}

/** Returns the last named step of the path. What a list holds is called an item of it. */
function nameOf(path: FieldPath): string {
  const last = path.at(-1);
  if (typeof last === 'string') return `\`${last}\``;
  return last === undefined ? '`spec`' : `an item of ${nameOf(path.slice(0, -1))}`;
}

function formOf(schema: z.core.$ZodType): string {
  const inner = unwrap(schema);
  if (inner instanceof z.core.$ZodString) return 'a string';
  if (inner instanceof z.core.$ZodBoolean) return '`true` or `false`';
  if (inner instanceof z.core.$ZodNumber) return 'a number';
  if (inner instanceof z.core.$ZodArray) return 'a list';
  const choices = choicesOf(inner);
  return choices.length > 0
    ? `one of ${choices.map(choice => `\`${choice}\``).join(', ')}`
    : 'a map';
}

function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0);
}

function show(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}

function schemaAt(schema: z.core.$ZodType, path: FieldPath): z.core.$ZodType | undefined {
  return path.reduce<z.core.$ZodType | undefined>(
    (at, key) => (at === undefined ? at : childOf(at, key)),
    schema,
  );
}
