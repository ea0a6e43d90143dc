import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NOT_SERVED } from '#resources/kinds/known-kinds.ts';
import { RESTRICTIONS } from '#resources/schema/restrictions.ts';
import { readDocument } from './code-blocks.ts';
import { resourceProblems } from './resource-problems.ts';

const PAGE = readDocument('docs/how-to/migrate-from-ambassador.md');

const kinds = RESTRICTIONS.flatMap(({ field, kind, named }) =>
  field === undefined && named === undefined ? [kind] : [],
);
for (const kind of new Set([...Object.keys(NOT_SERVED), ...kinds]))
  test(`the page of Ambassador says what to do with ${kind}`, () => {
    assert.match(PAGE, new RegExp(`^\\|.*\`${kind}\`.*\\|`, 'm'));
  });

for (const type of ['External', 'Plugin', 'APIKey'])
  test(`the page of Ambassador says what to do with a Filter of type ${type}`, () => {
    const filter = `apiVersion: getambassador.io/v2\nkind: Filter\nmetadata: { name: a }\nspec: { ${type}: {} }\n`;
    assert.match(JSON.stringify(resourceProblems('a.yaml', filter)), /are not served/);
    assert.match(PAGE, new RegExp(`^\\|.*\`${type}\`.* of a Filter`, 'm'));
  });
