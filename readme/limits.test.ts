import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readDocument } from './code-blocks.ts';

const ROOT = join(import.meta.dirname, '..');
const ROWS = /^\| ([^|]+) \| ([^|]+) \| `([A-Z_]+)` in `([\w-]+)\/` \|$/gm;

/** In ms for a time, else in bytes or in pieces. */
const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  KiB: 1_024,
  MiB: 1_048_576,
};

describe('docs/reference/limits.md', () => {
  const rows = [...readDocument('docs/reference/limits.md').matchAll(ROWS)];

  test('names constants', () => assert.ok(rows.length > 30, `${rows.length} rows`));

  for (const [, what = '', value = '', name = '', folder = ''] of rows) {
    test(`has the value of ${name} in ${folder}: ${what}`, () => {
      const values = constants(folder, name);
      const wanted = valuesOf(value);
      assert.ok(
        values.some(found => wanted.includes(name.endsWith('_MS') ? found : found * scale(name))),
        `${value}, not ${values}`,
      );
    });
  }
});

/** Returns what a value in words may mean: `1 in 5 s` is 1 or 5000. */
function valuesOf(text: string): readonly number[] {
  const found = text.replaceAll(',', '').matchAll(/([\d.]+)(?: (\w+))?/g);
  return [...found].map(([, digits, unit = '']) => Number(digits) * (UNITS[unit] ?? 1));
}

function scale(name: string): number {
  return /_(SECONDS|S)$/.test(name) ? 1_000 : 1;
}

/**
 * Returns the values of all constants of this name below a folder. They are products of numbers.
 */
function constants(folder: string, name: string): readonly number[] {
  const pattern = new RegExp(`^(?:export )?const ${name} = ([\\d_ *]+);`, 'gm');
  return globSync(`${folder}/**/*.ts`, { cwd: ROOT })
    .flatMap(file => [...readFileSync(join(ROOT, file), 'utf8').matchAll(pattern)])
    .map(([, product = '']) =>
      product.split('*').reduce((all, factor) => all * Number(factor.replaceAll('_', '')), 1),
    );
}
