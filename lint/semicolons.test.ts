import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = globSync('*/**/*.ts', {
  cwd: ROOT,
  exclude: ['node_modules', '**/testing', '**/e2e', '**/*.test.ts'],
});
/** The words of Go's text/template, the mark of a Host, requests of benchmarks, and shell. */
const EXEMPT =
  /^(?:resources\/template\/(?:evaluate|indexing|parse)|controlplane\/compile\/tls\/host-header|bench\/oauth2\/[\w-]+|cli\/completion\/[\w-]+)\.ts$/;

const LITERAL = /'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|"(?:[^"\\]|\\.)*"/g;
/** Pairs of headers (`; path=/`), of CSS and of policies for pages go on otherwise. */
const JOINED =
  /; (?!(?:frame-ancestors|script-src|style-src|base-uri) )(?![\w-]+(?:=|: ))[a-z`$\\]/;

/** Returns the lines of a source in which a text has two sentences joined by a semicolon. */
function joinedSentences(source: string): readonly number[] {
  return source.split('\n').flatMap((line, index) => {
    const isComment = /^\s*(?:\/\/|\/\*|\*)/.test(line);
    const texts = isComment ? [line] : (line.match(LITERAL) ?? []);
    return texts.some(text => JOINED.test(text)) ? [index + 1] : [];
  });
}

test('no text or comment joins sentences by a semicolon', () => {
  const found = SOURCES.filter(file => !EXEMPT.test(file)).flatMap(file =>
    joinedSentences(readFileSync(join(ROOT, file), 'utf8')).map(line => `${file}:${line}`),
  );
  assert.deepEqual(found, []);
});

test('sentences in texts of each form are seen, headers and code are not', () => {
  const seen = ["'one is wrong; keep it'", "'one; `two`'", '// one; two'];
  for (const line of seen) assert.deepEqual(joinedSentences(`\n${line}`), [2], line);
  const unseen = [
    "'text/html; charset=utf-8'",
    "'display: flex; margin: 0'",
    "list.join('; ')",
    'type A = { a: string; b: number };',
    "const a = 'x'; const b = 'y';",
  ];
  for (const line of unseen) assert.deepEqual(joinedSentences(line), [], line);
});
