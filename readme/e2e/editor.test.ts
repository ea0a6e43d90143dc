import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { bundledSchema } from '#resources/json-schema/kind-schema.ts';
import { LanguageServer } from '../testing/language-server.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const EXAMPLES = globSync(
  [
    'readme/examples/*.yaml',
    'envoy/{resources,gateway-api}/*.yaml',
    'deploy/compose/resources/*.yaml',
    'deploy/kubernetes/demo/resources.yaml',
  ],
  { cwd: ROOT },
);

/** A pattern of a RateLimit may have one key twice. No setting of the server allows that. */
const TWICE = 'Map keys must be unique';

const TYPO = `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: shop }
spec:
  prefix: /shop/
  service: shop
  metod: GET
`;

describe('an editor with the YAML language server', () => {
  let server: LanguageServer;
  const folder = mkdtempSync(join(tmpdir(), 'editor-'));
  before(async () => {
    server = await LanguageServer.start(ROOT);
    writeFileSync(join(folder, 'schema.json'), JSON.stringify(bundledSchema()));
  });
  after(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true });
  });

  for (const name of EXAMPLES)
    test(`underlines nothing of ${name} but the typo behind it`, async () => {
      const example = readFileSync(join(ROOT, name), 'utf8');
      const [modeline] = example.split('\n');
      const text = `${example}---\n${modeline}\n${TYPO}`;
      const underlined = await server.underlined(join(ROOT, name), text);
      const found = underlined.filter(({ message }) => message !== TWICE);
      const line = text.split('\n').length - 1;
      assert.deepEqual(
        found.map(({ line, text }) => [line, text]),
        [[line, 'metod']],
        JSON.stringify(found),
      );
      assert.match(found[0]?.message ?? '', /metod is not allowed/);
    });

  const written = (spec: string) =>
    `# yaml-language-server: $schema=schema.json\n${TYPO}`.replace(/ {2}prefix[\s\S]*$/, spec);

  const wrong: readonly (readonly [string, string, RegExp])[] = [
    ['a wrong word', '  prefix: /\n  service: a\n  resolver: dsn\n', /"dns"/],
    ['a missing field', '  prefix: /\n', /Missing property "service"/],
    ['a number where a text belongs', '  prefix: 5\n  service: a\n', /Expected "string/],
    ['a number out of bounds', '  prefix: /\n  service: a\n  weight: 101\n', /maximum of 100/],
  ];
  for (const [what, spec, message] of wrong)
    test(`names ${what} by the schema that the command prints`, async () => {
      const path = join(folder, `${what.replaceAll(' ', '-')}.yaml`);
      const [first, ...others] = await server.underlined(path, written(spec));
      assert.match(first?.message ?? '', message);
      assert.deepEqual(others, []);
    });

  test('offers the fields of the kind of each document, and the words of a field', async () => {
    const fields = await server.offered(join(folder, 'fields.yaml'), written('  pre'));
    assert.ok(fields.includes('prefix_regex'), fields.join());
    const words = await server.offered(join(folder, 'words.yaml'), written('  resolver: '));
    assert.deepEqual(words.slice(0, 2), ['dns', 'sds']);
  });

  test('shows what a field means', async () => {
    const shown = await server.shown(join(folder, 'hover.yaml'), written('  timeout_ms'));
    assert.match(shown, /Time until the answer begins/);
  });
});
