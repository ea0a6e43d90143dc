import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { openApi } from './open-api.ts';

const cases: readonly (readonly [string, z.core.$ZodType, unknown])[] = [
  [
    'a string with its meaning',
    z.string().min(1).describe('A name'),
    { description: 'A name', type: 'string' },
  ],
  [
    'an integer within its bounds',
    z.int().min(0).max(100),
    { type: 'integer', format: 'int64', minimum: 0, maximum: 100 },
  ],
  ['an integer without bounds', z.int().default(0), { type: 'integer', format: 'int64' }],
  ['a boolean that has a default', z.boolean().default(true), { type: 'boolean' }],
  ['words', z.enum(['a.b', 'c']), { type: 'string', pattern: '^(a\\.b|c)$' }],
  [
    'words in any letter case',
    z.enum(['a', 'b']).meta({ anyCase: true }),
    { type: 'string', pattern: '^(?i:a|b)$' },
  ],
  ['what is read before it is checked', z.string().transform(Number), { type: 'string' }],
  ['text or a number', z.union([z.string(), z.literal(0)]), { 'x-kubernetes-int-or-string': true }],
  [
    'text or a list',
    z.union([z.string(), z.array(z.string())]),
    { 'x-kubernetes-preserve-unknown-fields': true },
  ],
  ['anything', z.unknown(), { 'x-kubernetes-preserve-unknown-fields': true }],
  ['a list', z.array(z.string()), { type: 'array', items: { type: 'string' } }],
  [
    'a list whose wrong items are left out',
    z.array(z.string()).meta({ lenient: true }),
    { type: 'array', items: { 'x-kubernetes-preserve-unknown-fields': true } },
  ],
  [
    'a field that is left out when it is wrong',
    z.int().meta({ droppable: true }).describe('Seconds'),
    { description: 'Seconds', 'x-kubernetes-preserve-unknown-fields': true },
  ],
  [
    'a map, of which the server would drop a null that it does not know',
    z.record(z.string(), z.boolean()),
    { type: 'object', additionalProperties: { type: 'boolean', nullable: true } },
  ],
  [
    'an object, whose other fields stay and whose own may be null',
    z.object({ a: z.string() }),
    {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { a: { type: 'string', nullable: true } },
    },
  ],
];

for (const [what, schema, expected] of cases) {
  test(`Kubernetes' schema knows ${what}`, () => assert.deepEqual(openApi(schema), expected));
}
