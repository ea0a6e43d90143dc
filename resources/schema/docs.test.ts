import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { KINDS } from '#resources/kinds/kinds.ts';
import { kindTable } from './docs.ts';
import type { KindDefinition } from './kind.ts';

test('a table has a row for every field, with type, default and meaning', () => {
  const schema = z.object({
    port: z.int().describe('A port'),
    mode: z.enum(['a', 'b']).default('a').describe('How'),
    hosts: z
      .array(z.object({ url: z.string().meta({ form: 'tcp|udp' }).describe('Where') }))
      .default([])
      .describe('Members'),
    note: z.string().exactOptional().describe('For people'),
  });
  const definition: KindDefinition<typeof schema> = {
    summary: '',
    schema,
    fieldsAt: 'spec',
    unknownField: 'warning',
  };
  assert.equal(
    kindTable(definition),
    `| field | type | default | meaning |
|---|---|---|---|
| \`spec.port\` | integer | *required* | A port |
| \`spec.mode\` | \`a\`, \`b\` | \`"a"\` | How |
| \`spec.hosts\` | list of object | \`[]\` | Members |
| \`spec.hosts[].url\` | tcp\\|udp | *required* | Where |
| \`spec.note\` | string |  | For people |
`,
  );
});

for (const [kind, definition] of Object.entries(KINDS)) {
  test(`every field of ${kind} has a meaning, and its schema can be written as JSON Schema`, () => {
    const rows = kindTable(definition).trimEnd().split('\n').slice(2);
    assert.deepEqual(
      rows.filter(row => row.endsWith('|  |')),
      [],
    );
    assert.equal(z.toJSONSchema(definition.schema, { io: 'input' }).type, 'object');
  });
}
