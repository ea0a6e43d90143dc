import type * as z from 'zod';
import { caution, type FieldPath, type Finding, fault, formatPath } from '#resources/finding.ts';
import { suggest } from '#resources/words/suggest.ts';
import type { KindDefinition } from './kind.ts';
import { choicesOf, itemOf, metaOf, shapeOf } from './schema-walk.ts';

/** The operator's input in the schema's own spelling. */
export type Normalised = {
  readonly value: unknown;
  readonly findings: readonly Finding[];
  /** Path in `value` of a field that was spelt otherwise → the key that the operator wrote. */
  readonly renamed: ReadonlyMap<string, string>;
};

/** How a kind treats fields that its schema does not know. */
type UnknownFields = Pick<KindDefinition, 'unknownField' | 'refuseField' | 'foreignFields'>;

type Context = {
  readonly definition: UnknownFields;
  readonly findings: Finding[];
  readonly renamed: Map<string, string>;
};

/**
 * Spells the fields as the schema does.
 * - Accepted aliases are changed silently.
 * - Deprecated names and other letter case get a warning.
 * - Words of an enumeration with any letter case are changed silently.
 * - Unknown fields are dropped with a finding, of the severity that `definition` says.
 * - A field with the value null counts as left out, as it does in Kubernetes.
 * - So does what another product's cluster writes for none, with a warning.
 * Findings have the paths of what was written.
 */
export function normalise(
  schema: z.core.$ZodType,
  input: unknown,
  definition: UnknownFields,
): Normalised {
  const context: Context = { definition, findings: [], renamed: new Map() };
  const value = normaliseValue(schema, input, [], context);
  return { value, findings: context.findings, renamed: context.renamed };
}

/** Returns the path as the operator spelt it. */
export function toWrittenPath(path: FieldPath, renamed: ReadonlyMap<string, string>): FieldPath {
  return path.map((key, index) => renamed.get(formatPath(path.slice(0, index + 1))) ?? key);
}

function normaliseValue(
  schema: z.core.$ZodType,
  input: unknown,
  path: FieldPath,
  context: Context,
): unknown {
  if (typeof input === 'string') {
    const odd = metaOf(schema).odd?.(input);
    if (odd !== undefined)
      context.findings.push(caution(toWrittenPath(path, context.renamed), odd));
    return normaliseWord(schema, input);
  }
  if (typeof input !== 'object' || input === null) return input;
  const shape = shapeOf(schema);
  const item = itemOf(schema);
  if (Array.isArray(input)) {
    return item === undefined
      ? input
      : input.map((value, index) => normaliseValue(item, value, [...path, index], context));
  }
  if (shape !== undefined) return normaliseObject(shape, input, path, context);
  if (item === undefined) return input;
  const entries = Object.entries(input);
  if (Object.hasOwn(input, '__proto__')) reportPrototype(path, context);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, normaliseValue(item, value, [...path, key], context)]),
  );
}

/** Returns a word of an enumeration in the schema's spelling, where any letter case is allowed. */
function normaliseWord(schema: z.core.$ZodType, input: string): string {
  const words = choicesOf(schema);
  if (words.length === 0 || metaOf(schema).anyCase !== true) return input;
  return words.find(word => word.toLowerCase() === input.toLowerCase()) ?? input;
}

function normaliseObject(
  shape: Readonly<Record<string, z.core.$ZodType>>,
  input: object,
  path: FieldPath,
  context: Context,
): object {
  const fields = new Map<string, unknown>();
  for (const [key, value] of Object.entries(input)) {
    const field = fieldName(shape, key, path, context);
    if (field === undefined) reportUnknown(shape, [...path, key], value, context);
    if (field === undefined || value === null) continue;
    if (fields.has(field) || (field !== key && Object.hasOwn(input, field))) {
      reportTwice(key, field, path, context);
      continue;
    }
    const schema = shape[field];
    if (schema !== undefined && metaOf(schema).isUnset?.(value, { ...input }) === true) {
      context.findings.push(caution(toWrittenPath([...path, key], context.renamed), UNSET));
      continue;
    }
    if (field !== key) context.renamed.set(formatPath([...path, field]), key);
    fields.set(
      field,
      schema === undefined ? value : normaliseValue(schema, value, [...path, field], context),
    );
  }
  return Object.fromEntries(fields);
}

const UNSET = 'an empty one counts as left out. Remove it';

/**
 * Returns the schema's name for a written key.
 * @returns undefined when there is none
 */
function fieldName(
  shape: Readonly<Record<string, z.core.$ZodType>>,
  key: string,
  path: FieldPath,
  context: Context,
): string | undefined {
  if (Object.hasOwn(shape, key)) return key;
  const names = Object.keys(shape);
  const alias = names.find(name => aliasesOf(shape, name).includes(key));
  if (alias !== undefined) return alias;
  const newName = names.find(name => deprecatedOf(shape, name).includes(key));
  if (newName !== undefined)
    return renamed(key, newName, `\`${key}\` is deprecated. Write \`${newName}\``, path, context);
  const otherCase = names.find(name => name.toLowerCase() === key.toLowerCase());
  if (otherCase === undefined) return undefined;
  return renamed(
    key,
    otherCase,
    `\`${key}\` is read as \`${otherCase}\`. Please spell it so`,
    path,
    context,
  );
}

function renamed(
  key: string,
  field: string,
  message: string,
  path: FieldPath,
  context: Context,
): string {
  context.findings.push(caution(toWrittenPath([...path, key], context.renamed), message));
  return field;
}

function reportUnknown(
  shape: Readonly<Record<string, z.core.$ZodType>>,
  path: FieldPath,
  value: unknown,
  { definition, findings, renamed }: Context,
): void {
  const key = String(path.at(-1));
  const at = toWrittenPath(path, renamed);
  const refusal = value === null ? undefined : definition.refuseField?.(formatPath(path), value);
  const foreign = definition.foreignFields?.get(key);
  const hint = foreign === undefined ? suggest(key, Object.keys(shape)) : `. ${foreign}`;
  const message = `unknown field \`${key}\`${hint}`;
  const known = Object.keys(shape).flatMap(name => [name, ...aliasesOf(shape, name)]);
  findings.push(
    refusal === undefined
      ? {
          severity: definition.unknownField,
          path: at,
          message,
          unknown: { place: path.slice(0, -1), known },
        }
      : fault(at, refusal),
  );
}

function deprecatedOf(
  shape: Readonly<Record<string, z.core.$ZodType>>,
  name: string,
): readonly string[] {
  const schema = shape[name];
  return schema === undefined ? [] : (metaOf(schema).deprecatedNames ?? []);
}

/** The schema library silently leaves this key out. */
function reportPrototype(path: FieldPath, { findings, renamed }: Context): void {
  findings.push(
    fault(toWrittenPath([...path, '__proto__'], renamed), '"__proto__" may not be a key here'),
  );
}

function aliasesOf(
  shape: Readonly<Record<string, z.core.$ZodType>>,
  name: string,
): readonly string[] {
  const schema = shape[name];
  return schema === undefined ? [] : (metaOf(schema).aliases ?? []);
}

function reportTwice(key: string, field: string, path: FieldPath, context: Context): void {
  const at = toWrittenPath([...path, key], context.renamed);
  context.findings.push({
    severity: 'error',
    path: at,
    message: `\`${key}\` and \`${field}\` are the same field. Keep one`,
  });
}
