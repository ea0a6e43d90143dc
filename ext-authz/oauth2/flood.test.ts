import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectGarbage } from '#xds/testing/collect-garbage.ts';
import { TestBrowser } from './testing/test-browser.ts';
import type { TestGateway } from './testing/test-gateway.ts';
import { useWorld } from './testing/world.ts';

const { open } = useWorld();
const PAGE = 'https://a.test/page';
const FIRST = 5_000;
const MORE = 15_000;
const AT_ONCE = 200;
/** In MB. What a login takes until it is dropped is more than 300 bytes in each of both. */
const MOST_GROWTH = 4;
/** Deadlines hold memory until they are over. */
const DEADLINE_MS = 1_000;

test('an unknown client begins 20,000 logins: memory and file stay as they were after 5,000', async t => {
  const { gateway } = await open(t, { deadlineMs: DEADLINE_MS });
  await beginLogins(gateway, FIRST);
  const before = await sizes(gateway);
  await beginLogins(gateway, MORE);
  const after = await sizes(gateway);
  t.diagnostic(`${JSON.stringify(before)}, then ${JSON.stringify(after)} MB`);
  assert.ok(after.heap - before.heap < MOST_GROWTH, `memory: ${after.heap - before.heap} MB more`);
  assert.ok(after.file - before.file < MOST_GROWTH, `file: ${after.file - before.file} MB more`);
});

/** Each by a browser without cookies, so that no login replaces another. */
async function beginLogins(gateway: TestGateway, count: number): Promise<void> {
  const { signal } = new AbortController();
  for (let begun = 0; begun < count; begun += AT_ONCE) {
    const visits = Array.from({ length: AT_ONCE }, () => new TestBrowser(gateway).visit(PAGE, { signal }));
    for (const { status } of await Promise.all(visits)) assert.equal(status, 303);
  }
}

/** In MB. */
async function sizes(gateway: TestGateway): Promise<{ heap: number; file: number }> {
  collectGarbage();
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  const { byteLength } = await gateway.dump();
  return { heap: (heapUsed + arrayBuffers) / 1e6, file: byteLength / 1e6 };
}
