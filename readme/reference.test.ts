import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { nodeGroups } from '#controlplane/compile/all-node-groups.ts';
import { compile } from '#controlplane/compile/compile.ts';
import { DOCUMENTED_KINDS } from '#resources/kinds/known-kinds.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { fromJson } from '#resources/template/go-value.ts';
import { renderTemplate } from '#resources/template/render.ts';
import { parseTemplate } from '#resources/template/template.ts';
import { exampleFile, exampleOf, noteOf } from './kind-files.ts';
import { DOCS, generatedPages } from './reference.ts';

describe('the generated pages', async () => {
  for (const [name, text] of await generatedPages()) {
    test(`has docs/${name} as the code gives it (else: npx node readme/write-reference.ts)`, () => {
      assert.equal(readFileSync(join(DOCS, name), 'utf8'), text);
    });
  }

  for (const folder of ['reference/kinds', 'schemas']) {
    test(`has nothing in docs/${folder} of a kind that is gone`, async () => {
      const pages = readdirSync(join(DOCS, folder)).map(name => `${folder}/${name}`);
      const generated = [...(await generatedPages()).keys()].filter(name =>
        name.startsWith(`${folder}/`),
      );
      assert.deepEqual(pages.sort(), generated.sort());
    });
  }

  test('has every example', () => {
    const files = readdirSync(join(import.meta.dirname, 'examples'));
    assert.deepEqual(
      files.sort(),
      DOCUMENTED_KINDS.map(kind => exampleFile(kind).split('/').at(-1)).sort(),
    );
  });

  test('has every note', () => {
    const files = readdirSync(join(import.meta.dirname, 'notes'));
    const noted = DOCUMENTED_KINDS.filter(kind => noteOf(kind) !== '');
    assert.equal(noted.length, files.length);
  });

  test('shows of templates of a Filter what they give', () => {
    const rows = [...noteOf('Filter').matchAll(/^\| `(\{\{.*\}\})` \| `(.*)` \|$/gm)];
    assert.ok(rows.some(([, template]) => template?.includes('printf')));
    const data = fromJson({ token: { Claims: { exp: 1_800_000_000 } } });
    for (const [, template = '', text] of rows) {
      const parsed = parseTemplate(template, 'header');
      assert.ok('value' in parsed);
      assert.deepEqual(renderTemplate(parsed.value, data), { text });
    }
  });

  for (const kind of DOCUMENTED_KINDS) {
    test(`has an example of ${kind} without a problem`, () => {
      const parsed = parseFile(`${kind}.yaml`, exampleOf(kind), DEFAULT_PARSE_OPTIONS);
      assert.deepEqual(parsed.problems, []);
      // What it needs beside it to have an effect comes first.
      assert.equal(parsed.resources.at(-1)?.kind, kind);
      const filters =
        kind === 'FilterPolicy'
          ? parseFile('f', exampleOf('Filter'), DEFAULT_PARSE_OPTIONS).resources
          : [];
      const set = toResourceSet([...filters, ...parsed.resources], []);
      const address = { host: '127.0.0.1', port: 8080 };
      for (const group of nodeGroups(set)) {
        const { problems } = compile(set, group, {
          edge: address,
          sds: address,
          rateLimit: address,
          extAuthz: address,
        });
        assert.deepEqual(problems, []);
      }
    });
  }
});
