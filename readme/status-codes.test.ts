import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readDocument } from './code-blocks.ts';

const ROOT = join(import.meta.dirname, '..');
const PAGE = readDocument('docs/reference/status-codes.md');

/** Where the answers of each sender are made. */
const SENDERS = { edge: 'controlplane/compile', 'ext-authz': 'ext-authz' } as const;

describe('docs/reference/status-codes.md', () => {
  for (const [sender, folder] of Object.entries(SENDERS)) {
    const codes = codesIn(folder);

    test(`finds codes of ${sender}`, () => assert.ok(codes.length >= 4, String(codes)));

    for (const code of codes) {
      test(`has a row for ${code} from ${sender}`, () => {
        assert.ok(PAGE.includes(`\n| ${code} | ${sender} | `));
      });
    }
  }
});

/** Returns the codes of errors that the code below a folder answers with. */
function codesIn(folder: string): readonly string[] {
  const files = globSync(`${folder}/**/*.ts`, { cwd: ROOT });
  const sources = files.filter(file => !/\.test\.ts$|\/(testing|e2e)\//.test(file));
  const found = sources.flatMap(file => [
    ...readFileSync(join(ROOT, file), 'utf8').matchAll(
      /\b(?:status|response\.code)(?::| ==) ([45]\d\d)\b/g,
    ),
  ]);
  return [...new Set(found.map(([, code = '']) => code))].sort();
}
