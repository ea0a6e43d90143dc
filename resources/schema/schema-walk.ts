import * as z from 'zod';

/** What is attached to a schema beside its description. */
export type FieldMeta = {
  /** What a right value looks like, as words that follow "must be". */
  readonly form?: string;
  /** Other spellings of the field's name that are accepted silently. */
  readonly aliases?: readonly string[];
  /** Other spellings of the field's name that are accepted with a warning. */
  readonly deprecatedNames?: readonly string[];
  /** An object in which some fields may be wrong while the rules between the others are checked. */
  readonly partial?: boolean;
  /** An item with an error is left out by itself, and the others stay. */
  readonly lenient?: boolean;
  /** A field with an error is left out by itself, and the others stay. */
  readonly droppable?: boolean;
  /** The documentation has its fields in another place. */
  readonly describedElsewhere?: boolean;
  /**
   * Returns whether a value is what another product's cluster writes for a field that is left out.
   * `beside` is the object that has the field.
   */
  readonly isUnset?: (value: unknown, beside: Readonly<Record<string, unknown>>) => boolean;
  /** The words of an enumeration may be written in any letter case. */
  readonly anyCase?: boolean;
  /** Returns what is odd about a right text, for a warning. */
  readonly odd?: (text: string) => string | undefined;
  /** The value is never shown. */
  readonly secret?: boolean;
};

declare module 'zod' {
  interface GlobalMeta extends FieldMeta {}
}

/** Returns the fields of an object's schema by name, or undefined when the schema is no object. */
export function shapeOf(
  schema: z.core.$ZodType,
): Readonly<Record<string, z.core.$ZodType>> | undefined {
  const inner = unwrap(schema);
  return inner instanceof z.core.$ZodObject ? inner._zod.def.shape : undefined;
}

/**
 * Returns the schema of a list's items or a record's values, or undefined when the schema is
 * neither.
 */
export function itemOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const inner = unwrap(schema);
  if (inner instanceof z.core.$ZodArray) return inner._zod.def.element;
  return inner instanceof z.core.$ZodRecord ? inner._zod.def.valueType : undefined;
}

/** Returns the schema one step below, or undefined when nothing is known there. */
export function childOf(
  schema: z.core.$ZodType,
  key: string | number,
): z.core.$ZodType | undefined {
  const shape = shapeOf(schema);
  if (shape === undefined) return itemOf(schema);
  return Object.hasOwn(shape, key) ? shape[key] : undefined;
}

/** Returns the words of an enumeration. There are none when the schema is no enumeration. */
export function choicesOf(schema: z.core.$ZodType): readonly string[] {
  const inner = unwrap(schema);
  return inner instanceof z.core.$ZodEnum ? Object.values(inner._zod.def.entries).map(String) : [];
}

/**
 * Returns the schema of what the operator writes, without defaults, optionality and transformations
 * around it.
 */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  const inner = innerOf(schema);
  return inner === undefined ? schema : unwrap(inner);
}

/** Returns what is attached to a schema or to one that it wraps. The outer one wins. */
export function metaOf(
  schema: z.core.$ZodType,
): FieldMeta & { readonly description?: string | undefined } {
  const known = metas.get(schema);
  if (known !== undefined) return known;
  const own = z.globalRegistry.get(schema) ?? {};
  const inner = innerOf(schema);
  const meta = inner === undefined ? own : { ...metaOf(inner), ...own };
  metas.set(schema, meta);
  return meta;
}

/** Each field of each resource asks. What is attached to a schema does not change. */
const metas = new WeakMap<z.core.$ZodType, ReturnType<typeof metaOf>>();

/** Returns whether a value must be written, and else its default. */
export function defaultOf(schema: z.core.$ZodType): {
  readonly required: boolean;
  readonly value?: unknown;
} {
  if (schema instanceof z.core.$ZodDefault || schema instanceof z.core.$ZodPrefault)
    return { required: false, value: schema._zod.def.defaultValue };
  return { required: schema._zod.optin === undefined };
}

function innerOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  if (schema instanceof z.core.$ZodPipe) return schema._zod.def.in;
  if (schema instanceof z.core.$ZodDefault || schema instanceof z.core.$ZodPrefault)
    return schema._zod.def.innerType;
  if (schema instanceof z.core.$ZodOptional || schema instanceof z.core.$ZodNullable)
    return schema._zod.def.innerType;
  return undefined;
}
