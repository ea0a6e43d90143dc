import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { valueSchema } from './value-schema.ts';

const none = () => ({});

const cases: readonly (readonly [string, z.core.$ZodType, unknown])[] = [
  [
    'a string with its meaning and form',
    z.string().min(1).describe('A name').meta({ form: 'a name that is not empty' }),
    { description: 'A name. Write a name that is not empty', type: 'string', minLength: 1 },
  ],
  [
    'an integer within its bounds, and its default',
    z.int().min(0).max(100).default(3),
    { type: 'integer', minimum: 0, maximum: 100, default: 3 },
  ],
  ['an integer without bounds', z.int(), { type: 'integer' }],
  ['words', z.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
  [
    'words in any letter case',
    z.enum(['a1']).meta({ anyCase: true }),
    { type: 'string', anyOf: [{ enum: ['a1'] }, { pattern: '^([Aa]1)$' }] },
  ],
  ['what is read before it is checked', z.string().transform(Number), { type: 'string' }],
  [
    'no default that cannot be written so',
    z.string().transform(Number).default(5),
    { type: 'string' },
  ],
  [
    'text or a number',
    z.union([z.string(), z.literal(0)]),
    { anyOf: [{ type: 'string' }, { type: 'number', const: 0 }] },
  ],
  [
    'a choice, of which the parser ignores unknown fields',
    z.union([z.string(), z.object({}), z.strictObject({})]),
    {
      anyOf: [
        { type: 'string' },
        { type: 'object', properties: {}, additionalProperties: true },
        { type: 'object', properties: {}, additionalProperties: false },
      ],
    },
  ],
  ['anything', z.unknown(), {}],
  [
    'a list and its length',
    z.array(z.string()).min(1),
    { type: 'array', items: { type: 'string' }, minItems: 1 },
  ],
  [
    'a map',
    z.record(z.string(), z.boolean().nullable()),
    { type: 'object', additionalProperties: { type: ['boolean', 'null'] } },
  ],
  [
    'an object, whose required fields alone may not be null',
    z.object({ a: z.string(), b: z.enum(['c']).exactOptional() }),
    {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: ['string', 'null'], enum: ['c', null] } },
      required: ['a'],
      additionalProperties: false,
    },
  ],
  [
    'a field under each of its names',
    z.object({
      a: z
        .string()
        .exactOptional()
        .meta({ aliases: ['b'], deprecatedNames: ['c'] }),
    }),
    {
      type: 'object',
      properties: {
        a: { type: ['string', 'null'] },
        b: { type: ['string', 'null'] },
        c: { type: ['string', 'null'], deprecationMessage: '`a` is the name of this field' },
      },
      additionalProperties: false,
    },
  ],
];

for (const [what, schema, expected] of cases) {
  test(`an editor knows ${what}`, () => assert.deepEqual(valueSchema(schema, '', none), expected));
}
