import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { parseInstancesFile } from '../sds/instances/parse-instances-file.ts';
import { type CodeBlock, fencedBlocks, readDocument } from './code-blocks.ts';
import { fileOf } from './play/play.ts';
import { resourceProblems } from './resource-problems.ts';
import { commandProblem } from './shown-commands.ts';

const ROOT = join(import.meta.dirname, '..');
const PAGES = globSync('docs/**/*.md', { cwd: ROOT }).sort();

/**
 * What may stand after a fence, and how it is tested. `file=…` says where the reader saves the
 * block. What is neither run nor validated says so with `shown`.
 */
const KNOWN: readonly RegExp[] = [
  /^yaml( file=\S+)?( secret=\S+)?$/, // resources without a Problem, beside a Secret made elsewhere
  /^yaml instances( file=\S+)?$/, // the discovery service's file of instances
  /^yaml shown( file=\S+)?$/, // a file of another program
  /^(python|js) file=\S+$/, // a program that a command below starts
  /^js browser$/, // a script, run in the page that the browser has open
  /^(python|js) shown$/, // a part of the reader's own program
  /^sh$/, // run, and what it prints compared with the `text` below
  /^sh background$/, // started, and left running
  /^sh demo$/, // run against the demo by e2e/commands.test.ts
  /^sh cluster$/, // run against a real API server by e2e/from-ambassador.test.ts
  /^sh shown$/, // its options and paths checked
  /^text( shown| browser)?$/,
  /^mermaid$/,
];

const infoOf = ({ language, marks }: CodeBlock) => [language, ...marks].join(' ');

/** The Secret that a block needs and that is made by a command or by another program. */
function secretOf(marks: readonly string[]): string {
  const [, namespace = 'default', name] =
    /^secret=(?:(.+)\/)?(.+)$/.exec(marks.find(mark => mark.startsWith('secret=')) ?? '') ?? [];
  if (name === undefined) return '';
  return `---\napiVersion: v1\nkind: Secret\nmetadata: { name: ${name}, namespace: ${namespace} }\nstringData: { tls.crt: x, tls.key: x }\n`;
}

for (const page of PAGES) {
  const text = readDocument(page);
  const blocks = fencedBlocks(text);

  describe(page, () => {
    test('has only blocks that say how they are tested', () => {
      const fences = text.split('\n').filter(line => /^\s*```/.test(line)).length;
      assert.equal(fences, 2 * blocks.length, 'a fence is indented, or has no end');
      for (const block of blocks) {
        const known = KNOWN.some(pattern => pattern.test(infoOf(block)));
        assert.ok(known, `line ${block.line}: write one of KNOWN instead of "${infoOf(block)}"`);
      }
    });

    test('prints with `text` what the command above it says', () => {
      for (const [index, block] of blocks.entries()) {
        const before = blocks[index - 1];
        const run = before !== undefined && ['sh', 'sh background'].includes(infoOf(before));
        assert.ok(
          infoOf(block) !== 'text' || run,
          `line ${block.line}: no command is run before it`,
        );
      }
    });

    // A page of a kind shows its example, which reference.test.ts validates beside those of other
    // kinds.
    if (!page.startsWith('docs/reference/kinds/'))
      test('shows resources without a Problem', () => {
        const saved = new Map<string, string>();
        for (const { code: text, language, line, marks } of blocks) {
          const code = text + secretOf(marks);
          if (language !== 'yaml' || marks.some(mark => ['instances', 'shown'].includes(mark)))
            continue;
          const alone = resourceProblems(`${page}:${line}`, code);
          // A block may need those before it, except an earlier version that the reader replaces.
          saved.set(fileOf(marks) ?? String(line), code);
          if (alone.length > 0)
            assert.deepEqual(resourceProblems(page, [...saved.values()].join('---\n')), []);
        }
      });

    test('shows files of instances that the discovery service reads', () => {
      for (const { code, marks } of blocks)
        if (marks.includes('instances')) assert.deepEqual(parseInstancesFile(code).problems, []);
    });

    test('shows files of other programs that are YAML', () => {
      for (const { code, language, marks } of blocks)
        if (language === 'yaml' && marks.includes('shown'))
          for (const document of parseAllDocuments(code)) assert.deepEqual(document.errors, []);
    });

    test('shows commands that there are', async () => {
      for (const { code, language, line, marks } of blocks) {
        if (language !== 'sh' || !marks.includes('shown')) continue;
        for (const command of code.trim().split('\n'))
          assert.equal(await commandProblem(command), undefined, `line ${line}: ${command}`);
      }
    });
  });
}
