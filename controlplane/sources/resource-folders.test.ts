import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { writeWhole } from '#files/testing/write-whole.ts';
import { after } from '#process/after.ts';
import { Parser } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { watchResourceFolders } from './resource-folders.ts';

/** Returns Mappings to one service, in one document. */
function mappings(count: number, service: string): string {
  const items = Array.from({ length: count }, (_, number) => ({
    apiVersion: 'gateway.internal/v2',
    kind: 'Mapping',
    metadata: { name: `m-${number}` },
    spec: { prefix: `/${number}`, service },
  }));
  return JSON.stringify({ kind: 'List', items });
}

/** Returns the same as documents that need no thread. */
function documents(count: number, service: string): string {
  const texts = Array.from(
    { length: count },
    (_, number) =>
      `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: m-${number}}\nspec:\n  prefix: /${number}\n  service: ${service}\n`,
  );
  return texts.join('---\n');
}

/** The number of each folder's Mappings, and their service: `500 x`. */
type Delivery = readonly string[];

/** Follows folders of one file each. `asked` counts what the thread was given to parse. */
function follow(t: TestContext, ...texts: readonly string[]) {
  const folders = texts.map(() => mkdtempSync(join(tmpdir(), 'folders-')));
  const write = (folder: number, text: string) =>
    writeWhole(join(folders[folder] ?? '', 'a.yaml'), text);
  for (const [folder, text] of texts.entries()) write(folder, text);
  const deliveries: Delivery[] = [];
  let asked = 0;
  const following = watchResourceFolders(
    {
      folders,
      from: '/',
      parser: new Parser(DEFAULT_PARSE_OPTIONS),
      onThreadEnd: cause => assert.fail(String(cause)),
      after: (ms, callback) => {
        asked++;
        return after(ms, callback);
      },
    },
    ({ files }) =>
      deliveries.push(
        files.map(({ resources }) => {
          const [first] = resources;
          return `${resources.length} ${first?.kind === 'Mapping' ? first.spec.service.host : ''}`;
        }),
      ),
  );
  t.after(() => {
    following.close();
    for (const folder of folders) rmSync(folder, { recursive: true });
  });
  return { write, deliveries, asked: () => asked, close: () => following.close() };
}

test('a few resources are delivered before it returns', t => {
  const { deliveries, asked } = follow(t, mappings(2, 'x'), mappings(1, 'y'));
  assert.deepEqual(deliveries, [['2 x', '1 y']]);
  assert.equal(asked(), 0);
});

test('many resources are delivered when they are parsed, all at once', async t => {
  const { deliveries } = follow(t, mappings(500, 'x'), mappings(1, 'y'));
  assert.deepEqual(deliveries, []);
  await until(() => deliveries[0]);
  assert.deepEqual(deliveries, [['500 x', '1 y']]);
});

test('what is edited while much is parsed is delivered after it, and of several edits the last', async t => {
  const { write, deliveries, asked } = follow(t, mappings(1, 'x'), mappings(1, 'x'));
  write(0, mappings(500, 'y'));
  await until(() => asked() > 0 || undefined);
  write(1, mappings(1, 'y'));
  write(0, mappings(500, 'z'));
  write(1, mappings(1, 'z'));
  await until(() => deliveries.at(-1)?.join() === '500 z,1 z' || undefined);
  const [first, second, ...rest] = deliveries;
  assert.deepEqual(
    [first, second],
    [
      ['1 x', '1 x'],
      ['500 y', '1 x'],
    ],
  );
  assert.ok(rest.length > 0 && rest.every(delivery => delivery[0] !== '1 x'));
});

test('many simple documents are delivered all at once, without the thread', async t => {
  const { deliveries, asked } = follow(t, documents(2_000, 'x'), mappings(1, 'y'));
  assert.deepEqual(deliveries, []);
  await until(() => deliveries[0]);
  assert.deepEqual(deliveries, [['2000 x', '1 y']]);
  assert.equal(asked(), 0);
});

test('everything else goes on while many simple documents are parsed', async t => {
  const { deliveries } = follow(t, documents(2_000, 'x'));
  const turns: number[] = [];
  while (deliveries.length === 0) turns.push(await new Promise(done => setImmediate(done, 1)));
  assert.ok(turns.length > 2, `${turns.length} turns`);
});

test('simple documents beside one that needs the thread are delivered with it', async t => {
  const { deliveries, asked } = follow(t, `${documents(2_000, 'x')}---\n${mappings(500, 'x')}`);
  await until(() => deliveries[0]);
  assert.deepEqual(deliveries, [['2500 x']]);
  assert.ok(asked() > 0);
});

test('closed while many simple documents are parsed, it delivers nothing any more', async t => {
  const { deliveries, close } = follow(t, documents(2_000, 'x'));
  close();
  const other = follow(t, documents(2_000, 'y'));
  await until(() => other.deliveries[0]);
  assert.deepEqual(deliveries, []);
});

test('closed while much is parsed, it delivers nothing any more', async t => {
  const { deliveries, close } = follow(t, mappings(500, 'x'));
  close();
  const other = follow(t, mappings(500, 'y'));
  await until(() => other.deliveries[0]);
  assert.deepEqual(deliveries, []);
});
