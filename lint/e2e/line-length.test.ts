import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '..', '..');
/** As the formatter wraps code. It leaves comments alone. */
const LONGEST = 100;

/** Returns the lines of a source whose comment runs over. What a tool reads is one line. */
function longComments(text: string): readonly number[] {
  return text.split('\n').flatMap((line, index) => {
    const isComment = /^\s*(?:\/\/|\/\*|\*)/.test(line) || /[;,{}()\]] \/\/ /.test(line);
    const isForTool = /biome-ignore|@ts-/.test(line) || !/\s\S+\s/.test(line.trim());
    return isComment && !isForTool && line.length > LONGEST ? [index + 1] : [];
  });
}

test(`no line of a comment is longer than ${LONGEST} columns`, () => {
  const listed = execFileSync('git', ['ls-files', '*.ts', '*.cjs'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const long = listed
    .split('\n')
    .filter(file => file !== '')
    .flatMap(file =>
      longComments(readFileSync(join(ROOT, file), 'utf8')).map(line => `${file}:${line}`),
    );
  assert.deepEqual(long, []);
});

test('comments of each form are seen, code and directives are not', () => {
  const words = 'word '.repeat(25);
  const seen = [`// ${words}`, ` * ${words}`, `/** ${words} */`, `const a = 1; // ${words}`];
  for (const line of seen) assert.deepEqual(longComments(`\n${line}`), [2], line);
  const unseen = [
    `// biome-ignore lint: ${words}`,
    `const text = '${words}';`,
    `// ${'x'.repeat(120)}`,
  ];
  for (const line of unseen) assert.deepEqual(longComments(line), [], line);
});
