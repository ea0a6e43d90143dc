import * as z from 'zod';
import {
  choicesOf,
  defaultOf,
  itemOf,
  metaOf,
  shapeOf,
  unwrap,
} from '#resources/schema/schema-walk.ts';
import type { JsonSchema } from './json-schema.ts';

type Shape = Readonly<Record<string, z.core.$ZodType>>;

/** Returns fields that stand at a path beside those of the schema: `config` → `ip_allow`. */
export type MoreFields = (path: string) => Readonly<Record<string, JsonSchema>>;

/**
 * Returns what may be written for this schema. It accepts all that the parser takes without a
 * Problem. A check that is code, such as that of a regular expression, is the parser's alone.
 */
export function valueSchema(
  schema: z.core.$ZodType,
  path: string,
  more: MoreFields,
): Record<string, unknown> {
  const { description, form } = metaOf(schema);
  const words = [description, form === undefined ? undefined : `Write ${form}`];
  const told = words.filter(text => text !== undefined && text !== '').join('. ');
  return {
    ...(told === '' ? {} : { description: told }),
    ...orNull(typeOf(schema, path, more), schema instanceof z.core.$ZodNullable),
    ...defaultIn(schema),
  };
}

/** Returns the schema of an object with these fields and no others. */
export function objectSchema(shape: Shape, path: string, more: MoreFields): JsonSchema {
  const fields = Object.entries(shape).flatMap(([name, field]) =>
    spellings(name, field, valueSchema(field, path === '' ? name : `${path}.${name}`, more)),
  );
  const required = Object.keys(shape).filter(name => isRequired(shape[name]));
  return {
    type: 'object',
    properties: { ...Object.fromEntries(fields), ...more(path) },
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function isRequired(field: z.core.$ZodType | undefined): boolean {
  if (field === undefined || !defaultOf(field).required) return false;
  return metaOf(field).aliases === undefined;
}

/** Returns a field under each name that the parser knows. With the value null it is left out. */
function spellings(
  name: string,
  field: z.core.$ZodType,
  written: JsonSchema,
): [string, JsonSchema][] {
  const { aliases = [], deprecatedNames = [] } = metaOf(field);
  const value = defaultOf(field).required ? written : orNull(written, true);
  const deprecationMessage = `\`${name}\` is the name of this field`;
  return [
    [name, value],
    ...aliases.map((alias): [string, JsonSchema] => [alias, value]),
    ...deprecatedNames.map((old): [string, JsonSchema] => [old, { ...value, deprecationMessage }]),
  ];
}

function orNull(schema: JsonSchema, nullable: boolean): JsonSchema {
  if (!nullable) return schema;
  const { type, enum: words, anyOf } = schema;
  if (Array.isArray(anyOf) && type === undefined)
    return { ...schema, anyOf: [...anyOf, { type: 'null' }] };
  if (typeof type !== 'string') return schema;
  return {
    ...schema,
    type: [type, 'null'],
    ...(Array.isArray(words) ? { enum: [...words, null] } : {}),
  };
}

function typeOf(schema: z.core.$ZodType, path: string, more: MoreFields): JsonSchema {
  const inner = unwrap(schema);
  const shape = shapeOf(schema);
  if (shape !== undefined) return objectSchema(shape, path, more);
  const item = itemOf(schema);
  if (item !== undefined) {
    const items = valueSchema(item, `${path}[]`, more);
    return inner instanceof z.core.$ZodArray
      ? { type: 'array', items, ...boundsOf(inner) }
      : { type: 'object', additionalProperties: items };
  }
  if (inner instanceof z.core.$ZodUnion)
    return { anyOf: inner._zod.def.options.map(option => optionSchema(option, path, more)) };
  const words = choicesOf(inner);
  if (words.length > 0) return wordsType(words, metaOf(schema).anyCase === true);
  return scalarType(inner);
}

/** The parser looks for unknown fields in a choice only where the choice itself refuses them. */
function optionSchema(option: z.core.$ZodType, path: string, more: MoreFields): JsonSchema {
  const inner = unwrap(option);
  const isOpen = inner instanceof z.core.$ZodObject && inner._zod.def.catchall === undefined;
  const schema = valueSchema(option, path, more);
  return isOpen ? { ...schema, additionalProperties: true } : schema;
}

/** An editor offers the words as they are spelt here. */
function wordsType(words: readonly string[], anyCase: boolean): JsonSchema {
  if (!anyCase) return { type: 'string', enum: words };
  const pattern = `^(${words.map(word => word.replace(/[a-z]/gi, eitherCase)).join('|')})$`;
  return { type: 'string', anyOf: [{ enum: words }, { pattern }] };
}

function eitherCase(letter: string): string {
  return `[${letter.toUpperCase()}${letter.toLowerCase()}]`;
}

function boundsOf(list: z.core.$ZodType): JsonSchema {
  const { minItems, maxItems } = bare(list);
  return {
    ...(minItems === undefined ? {} : { minItems }),
    ...(maxItems === undefined ? {} : { maxItems }),
  };
}

function scalarType(inner: z.core.$ZodType): JsonSchema {
  const { type, const: value, enum: words, ...rules } = bare(inner);
  const kept = ['minLength', 'maxLength', 'pattern', 'minimum', 'maximum'].flatMap(rule =>
    rules[rule] === undefined || isUnbounded(rules[rule]) ? [] : [[rule, rules[rule]] as const],
  );
  return {
    ...(type === undefined ? {} : { type }),
    ...(value === undefined ? {} : { const: value }),
    ...(words === undefined ? {} : { enum: words }),
    ...Object.fromEntries(kept),
  };
}

/** The schema library bounds every integer by the safe integers of JavaScript. */
function isUnbounded(bound: unknown): boolean {
  return typeof bound === 'number' && Math.abs(bound) >= Number.MAX_SAFE_INTEGER;
}

/** Returns what the schema library itself says of a schema, without what is attached to it. */
function bare(schema: z.core.$ZodType): Record<string, unknown> {
  return z.toJSONSchema(schema, {
    target: 'draft-07',
    io: 'input',
    unrepresentable: 'any',
    metadata: z.registry(),
  });
}

/** A default is shown when it may be written so. Some are known only after they are read. */
function defaultIn(schema: z.core.$ZodType): JsonSchema {
  const { value } = defaultOf(schema);
  if (value === undefined || !('innerType' in schema._zod.def)) return {};
  const inner = schema._zod.def.innerType as z.core.$ZodType;
  return z.safeParse(inner, value).success ? { default: value } : {};
}
