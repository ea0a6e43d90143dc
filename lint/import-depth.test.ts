import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '..');
const MOST = 12;

const all = globSync('**/*.ts', {
  cwd: ROOT,
  exclude: path => /(^|\/)(node_modules|\.gateway|\.git)$/.test(path),
});

/** Sources that run in a gateway or make its pages. */
const files = all.filter(
  file => !/\.(test|d)\.ts$/.test(file) && !/(^|\/)(testing|e2e|bench)\//.test(file),
);

/** An import or export that a program follows. One of types alone is none. */
const VALUES =
  /^(?:import|export)\s+(?!type\b)(?!\{(?:\s*type\s[^,}]*,?)+\s*\})[^';]*?'([#.][^']+)';/gm;

/** An import or export of anything. */
const ALL = /^(?:import|export)\s[^';]*?'([#.][^']+)';/gm;

function importsBy(pattern: RegExp): ReadonlyMap<string, readonly string[]> {
  return new Map(
    all.map(file => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      const found = [...text.matchAll(pattern)].map(([, path = '']) =>
        path.startsWith('#') ? path.slice(1) : join(dirname(file), path),
      );
      return [file, found];
    }),
  );
}

const imports = importsBy(VALUES);

const chains = new Map<string, readonly string[]>();

/** Returns the longest chain of imports that begins at a file. */
function chainOf(file: string): readonly string[] {
  const known = chains.get(file);
  if (known !== undefined) return known;
  chains.set(file, []);
  const below = (imports.get(file) ?? []).map(chainOf);
  const longest = below.reduce((most, chain) => (chain.length > most.length ? chain : most), []);
  const chain = [file, ...longest];
  chains.set(file, chain);
  return chain;
}

test(`no file stands above a chain of more than ${MOST} imports`, () => {
  assert.ok(chainOf('controlplane/main.ts').length > 5, 'imports are found');
  const tooLong = files.map(chainOf).filter(chain => chain.length - 1 > MOST);
  assert.deepEqual(
    tooLong.map(chain => chain.join(' → ')),
    [],
  );
});

test('no file imports itself through others, not even for a type', () => {
  const some = importsBy(ALL);
  const done = new Set<string>();
  const circles: string[] = [];
  const follow = (file: string, above: readonly string[]) => {
    if (above.includes(file)) circles.push([...above.slice(above.indexOf(file)), file].join(' → '));
    if (above.includes(file) || done.has(file)) return;
    for (const each of some.get(file) ?? []) follow(each, [...above, file]);
    done.add(file);
  };
  for (const file of all) follow(file, []);
  assert.deepEqual(circles, []);
});
