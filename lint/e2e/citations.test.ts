import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

const ROOT = join(import.meta.dirname, '..', '..');
const CODE = ['*.ts', '*.cjs', '*.sh', '*.yaml', '*.yml', '*.json', '*.css', 'Dockerfile'];

/** A page in a folder, or one of the root, which has capitals. */
const PAGE = /(?<![\w./`{}*-])(?:[\w.-]+\/)*[\w-]+\.md(?!\w)/g;

/** Documents that no reader of the repository has. */
const ELSEWHERE =
  /\b[Dd]ocument [1-9]\b|\bdecisions?, ["`]|(?<![-\w])decisions\.md|\bdecision \d|\bRESOURCES\.md/;

describe('what the code cites', () => {
  const files = execFileSync('git', ['ls-files', ...CODE], { cwd: ROOT, encoding: 'utf8' })
    .trim()
    .split('\n');
  const others = files.filter(file => file !== 'lint/e2e/citations.test.ts');

  test('is in the repository', () => {
    assert.deepEqual(others.flatMap(deadCitations), []);
  });

  test('is found when it is not', () => {
    const text =
      '// See docs/nowhere.md, ext-authz/NOWHERE.md and docs/security.md.\n// Source: document 2, "Events".';
    assert.deepEqual(citationsIn(text).filter(isDead), [
      'docs/nowhere.md',
      'ext-authz/NOWHERE.md',
      'document 2',
    ]);
  });
});

function deadCitations(file: string): readonly string[] {
  const path = join(ROOT, file);
  if (!existsSync(path)) return [];
  return citationsIn(readFileSync(path, 'utf8'))
    .filter(isDead)
    .map(citation => `${file}: ${citation}`);
}

function citationsIn(text: string): readonly string[] {
  const pages = [...text.matchAll(PAGE)].map(([page]) => page).filter(isOfRepository);
  return [...pages, ...[...text.matchAll(new RegExp(ELSEWHERE, 'g'))].map(([words]) => words)];
}

/**
 * Other names are those of files that a test or a generator makes. A link that begins with `..` is
 * one of a generated page, and its test follows it.
 */
function isOfRepository(page: string): boolean {
  const [folder = ''] = page.split('/');
  if (folder === '..') return false;
  return folder === page ? /^[A-Z_]{4,}\.md$/.test(page) : existsSync(join(ROOT, folder));
}

function isDead(citation: string): boolean {
  return ELSEWHERE.test(citation) || !existsSync(join(ROOT, citation));
}
