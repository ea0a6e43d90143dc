import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { type ControlPlaneProcess, startControlPlane } from '#envoy/e2e/control-plane-process.ts';
import { newPage, startBrowser, whyNoBrowser } from '../../../ext-authz/e2e/browser.ts';

const LONG = Array.from('mmmm', letter => letter.repeat(62)).join('.');
/** Tabs that may follow at the same time. */
const FOLLOWING = 64;

const resource = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;

describe('of a control plane alone, the console', { skip: whyNoBrowser() }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'e2e-console-alone-'));
  const resources = join(folder, 'resources');
  let plane: ControlPlaneProcess;
  let browser: Browser;
  const at = (path: string) => `${plane.http}/console/${path}`;

  before(async () => {
    mkdirSync(resources);
    writeFileSync(
      join(resources, 'a.yaml'),
      resource(
        'Mapping',
        LONG,
        `{ prefix: /a/, service: a, labels: { gateway: [{ x: [${LONG}] }] } }`,
      ) +
        resource('Filter', LONG, '{ JWT: { jwksURI: "https://idp.test/keys" } }') +
        resource('Mapping', `x${LONG}`.slice(0, 240), '{ prefix: /x/, service: x, tmeout_ms: 5 }'),
    );
    [plane, browser] = await Promise.all([
      startControlPlane({ resources, state: join(folder, 'state'), edge: '127.0.0.1:0' }),
      startBrowser(),
    ]);
  });
  after(async () => {
    await browser.close();
    await plane.stop();
    rmSync(folder, { recursive: true });
  });

  for (const path of ['', 'security'])
    test(`has room for long names on a phone, on the screen "${path}"`, async t => {
      const page = await newPage(t, browser, { viewport: { width: 360, height: 740 } });
      await page.goto(at(path));
      await page.locator('.panel').first().waitFor();
      await page.getByText('mmm').first().waitFor();
      assert.deepEqual(await page.evaluate(CUT), []);
    });

  test('keeps what a cell holds beside its heading on a phone', async t => {
    const page = await newPage(t, browser, { viewport: { width: 360, height: 740 } });
    await page.goto(at('routes'));
    await page.getByText('/x/').first().waitFor();
    assert.deepEqual(await page.evaluate(BELOW_HEADING), []);
  });

  test(`shows changes in a tab that is one more than the ${FOLLOWING} that follow`, async t => {
    const streams = Array.from({ length: FOLLOWING }, () => get(at('events')));
    t.after(() => streams.forEach(stream => void stream.destroy()));
    await Promise.all(
      streams.map(stream => new Promise(resolve => stream.once('response', resolve))),
    );
    const page = await newPage(t, browser);
    await page.goto(at('routes'));
    await page.getByText('/x/').first().waitFor();
    writeFileSync(
      join(resources, 'b.yaml'),
      resource('Mapping', 'b', '{ prefix: /later/, service: b }'),
    );
    await page.getByText('/later/').first().waitFor({ timeout: 20_000 });
    await page.getByText('Not connected').waitFor();
  });
});

const CUT = `[...document.querySelectorAll('.panel')]
  .filter(panel => panel.scrollWidth > panel.clientWidth)
  .map(panel => panel.querySelector('h2, caption')?.textContent)`;

/** Cells with something in the column of the headings. */
const BELOW_HEADING = `[...document.querySelectorAll('main td')].filter(cell => {
  const left = cell.getBoundingClientRect().left + 90;
  const range = document.createRange();
  range.selectNodeContents(cell);
  return [...range.getClientRects()].some(part => part.width > 0 && part.left < left);
}).map(cell => cell.textContent)`;
