import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { cases } from '#protos/testing/cases.ts';
import { collectGarbage } from '#xds/testing/collect-garbage.ts';
import { TestBrowser } from './testing/test-browser.ts';
import type { TestGateway } from './testing/test-gateway.ts';
import { useWorld } from './testing/world.ts';

const { open } = useWorld();
const PAGE = 'https://a.test/page';
const FIRST = cases({ all: 4_000, quick: 1_000 });
const MORE = cases({ all: 8_000, quick: 3_000 });
const AT_ONCE = 200;
/** In MB. If 400 bytes of each of 8,000 logins stayed, it would be more. */
const MOST_GROWTH = 3.2;
/** Deadlines hold memory until they have passed. */
const DEADLINE_MS = 1_000;

test('an unknown client begins thousands of logins: memory stays as it was after the first of them', async t => {
  const { gateway } = await open(t, { deadlineMs: DEADLINE_MS });
  await askProvider(gateway);
  await beginLogins(gateway, FIRST);
  const before = heldMemory();
  await beginLogins(gateway, MORE);
  const after = heldMemory();
  t.diagnostic(`${before} MB, then ${after} MB`);
  assert.ok(after - before < MOST_GROWTH, `${after - before} MB more`);
});

/** On a busy machine its first answer, which all logins need, may come after the deadline. */
async function askProvider(gateway: TestGateway): Promise<void> {
  await until(() => new TestBrowser(gateway).visit(PAGE).catch(() => undefined));
}

/** Each by a browser without cookies, so that no login replaces another. */
async function beginLogins(gateway: TestGateway, count: number): Promise<void> {
  const { signal } = new AbortController();
  for (let begun = 0; begun < count; begun += AT_ONCE) {
    const visits = Array.from({ length: AT_ONCE }, () =>
      new TestBrowser(gateway).visit(PAGE, { signal }),
    );
    for (const { status } of await Promise.all(visits)) assert.equal(status, 303);
  }
}

/** In MB. */
function heldMemory(): number {
  collectGarbage();
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
}
