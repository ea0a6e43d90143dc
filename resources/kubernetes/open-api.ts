import * as z from 'zod';
import { choicesOf, itemOf, metaOf, shapeOf, unwrap } from '#resources/schema/schema-walk.ts';

/** A schema as a CustomResourceDefinition holds it (OpenAPI v3, "structural"). */
export type OpenApi = { readonly [key: string]: unknown };

/** Any value, and all of it is kept. */
const ANYTHING: OpenApi = { 'x-kubernetes-preserve-unknown-fields': true };

/**
 * Returns a schema by which the API server may reject values by itself. They are of a type that the
 * parser never accepts. What the parser accepts, this accepts too, and drops nothing. An unknown
 * field, such as one in other letter case, reaches the parser, and its Problem becomes the status.
 * So no field is required here, and null is allowed as the parser allows it.
 * See kubernetes.io, "Extend the Kubernetes API with CustomResourceDefinitions", "Specifying a
 * structural schema".
 */
export function openApi(schema: z.core.$ZodType): OpenApi {
  const { description } = metaOf(schema);
  const type = schema instanceof z.core.$ZodNullable ? orNull(typeOf(schema)) : typeOf(schema);
  return { ...(description === undefined ? {} : { description }), ...type };
}

/**
 * A field with the value null counts as left out. In a map it may be a mistake, which the server
 * would drop.
 */
export function orNull(type: OpenApi): OpenApi {
  return { ...type, nullable: true };
}

function typeOf(schema: z.core.$ZodType): OpenApi {
  // The parser accepts it with any error, and leaves it out.
  if (metaOf(schema).droppable === true) return ANYTHING;
  const inner = unwrap(schema);
  const shape = shapeOf(schema);
  if (shape !== undefined) {
    const fields = Object.entries(shape).map(([name, value]) => [name, orNull(openApi(value))]);
    return { type: 'object', ...ANYTHING, properties: Object.fromEntries(fields) };
  }
  if (inner instanceof z.core.$ZodArray) return { type: 'array', items: itemType(schema) };
  if (inner instanceof z.core.$ZodRecord)
    return { type: 'object', additionalProperties: orNull(itemType(schema)) };
  if (inner instanceof z.core.$ZodUnion) return unionType(inner);
  return scalarType(inner, metaOf(schema).anyCase === true);
}

/** Wrong items of a lenient list or map are left out one by one, and the others stay. */
function itemType(schema: z.core.$ZodType): OpenApi {
  const item = itemOf(schema);
  return item === undefined || metaOf(schema).lenient === true ? ANYTHING : openApi(item);
}

/** Structural schemas know one union only. Others are of any type. */
function unionType({ _zod: { def } }: z.core.$ZodUnion): OpenApi {
  const types = def.options.map(option => typeOf(option).type).sort();
  return types.join() === 'integer,string' ? { 'x-kubernetes-int-or-string': true } : ANYTHING;
}

function scalarType(inner: z.core.$ZodType, anyCase: boolean): OpenApi {
  if (inner instanceof z.core.$ZodBoolean) return { type: 'boolean' };
  if (inner instanceof z.core.$ZodNumber) return numberType(inner);
  if (inner instanceof z.core.$ZodEnum) return enumType(inner, anyCase);
  if (inner instanceof z.core.$ZodLiteral) return literalType(inner);
  return inner instanceof z.core.$ZodString ? { type: 'string' } : ANYTHING;
}

/**
 * Returns the words as a pattern, which null passes. The API server rejects a null beside `enum`,
 * even one that lists it.
 */
function enumType(inner: z.core.$ZodEnum, anyCase: boolean): OpenApi {
  const words = choicesOf(inner).map(escapeRegex).join('|');
  return { type: 'string', pattern: `^(${anyCase ? '?i:' : ''}${words})$` };
}

function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function literalType({ _zod: { def } }: z.core.$ZodLiteral): OpenApi {
  if (def.values.every(value => typeof value === 'string')) return { type: 'string' };
  return def.values.every(value => Number.isInteger(value)) ? { type: 'integer' } : ANYTHING;
}

function numberType(inner: z.core.$ZodNumber): OpenApi {
  const { type, minimum, maximum } = z.toJSONSchema(inner);
  const bounds = Object.entries({ minimum, maximum }).filter(([, bound]) => isBound(bound));
  return {
    type,
    ...(type === 'integer' ? { format: 'int64' } : {}),
    ...Object.fromEntries(bounds),
  };
}

/** The schema library bounds every integer by the safe integers of JavaScript. */
function isBound(bound: number | undefined): boolean {
  return bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
}
