import * as z from 'zod';

/** What we attach to a schema beside its description. */
export type FieldMeta = {
  /** What a right value looks like, to follow "must be". */
  readonly form?: string;
  /** Other spellings of the field's name that are accepted without a word. */
  readonly aliases?: readonly string[];
  /** Other spellings of the field's name that are accepted with a warning. */
  readonly deprecatedNames?: readonly string[];
  /** An object in which some fields may be wrong when the rules between the others are checked. */
  readonly partial?: boolean;
  /** An item with an error is left out by itself, the others stand. */
  readonly lenient?: boolean;
  /** A field with an error is left out by itself, the others stand. */
  readonly droppable?: boolean;
  /** The documentation has its fields in another place. */
  readonly describedElsewhere?: boolean;
  /** The words of an enumeration may be written in any letter case. */
  readonly anyCase?: boolean;
  /** What is odd about a text that is right, to warn of. */
  readonly odd?: (text: string) => string | undefined;
  /** The value is never shown. */
  readonly secret?: boolean;
};

declare module 'zod' {
  interface GlobalMeta extends FieldMeta {}
}

/** Fields of an object's schema by name, or undefined when the schema is no object. */
export function shapeOf(
  schema: z.core.$ZodType,
): Readonly<Record<string, z.core.$ZodType>> | undefined {
  const inner = unwrap(schema);
  return inner instanceof z.core.$ZodObject ? inner._zod.def.shape : undefined;
}

/** The schema of a list's items or a record's values, or undefined when the schema is neither. */
export function itemOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const inner = unwrap(schema);
  if (inner instanceof z.core.$ZodArray) return inner._zod.def.element;
  return inner instanceof z.core.$ZodRecord ? inner._zod.def.valueType : undefined;
}

/** The schema one step below, or undefined when there is nothing known there. */
export function childOf(
  schema: z.core.$ZodType,
  key: string | number,
): z.core.$ZodType | undefined {
  const shape = shapeOf(schema);
  if (shape === undefined) return itemOf(schema);
  return Object.hasOwn(shape, key) ? shape[key] : undefined;
}

/** The words of an enumeration; none when the schema is none. */
export function choicesOf(schema: z.core.$ZodType): readonly string[] {
  const inner = unwrap(schema);
  return inner instanceof z.core.$ZodEnum ? Object.values(inner._zod.def.entries).map(String) : [];
}

/**
 * The schema of what the operator writes, without defaults, optionality and transformations around
 * it.
 */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  const inner = innerOf(schema);
  return inner === undefined ? schema : unwrap(inner);
}

/** What is attached to a schema or to one that it wraps; the outer wins. */
export function metaOf(
  schema: z.core.$ZodType,
): FieldMeta & { readonly description?: string | undefined } {
  const own = z.globalRegistry.get(schema) ?? {};
  const inner = innerOf(schema);
  return inner === undefined ? own : { ...metaOf(inner), ...own };
}

/** Whether a value must be written, and else what stands for it. */
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
