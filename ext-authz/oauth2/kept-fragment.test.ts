import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorize } from './testing/code-provider.ts';
import type { Seen, TestBrowser, TestVisit } from './testing/test-browser.ts';
import { useWorld } from './testing/world.ts';

const { open } = useWorld();
const ORIGINS = ['https://a.test', 'https://b.test'];
const PAGE = 'https://a.test/page?x=1';
const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8';
const TAB = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', accept: HTML };

const linkOf = ({ body }: Seen, attribute: string) =>
  (new RegExp(` ${attribute}="([^"]*)"`).exec(body)?.[1] ?? '').replaceAll('&amp;', '&');

/** Opens a page in a tab, whose script sets its cookie to this value. Where the browser is sent. */
async function begin(browser: TestBrowser, page: string, value: string): Promise<string> {
  const seen = await browser.visit(page, { headers: TAB });
  assert.equal(seen.status, 200);
  browser.jar.take(new URL(page), linkOf(seen, 'data-cookie').replace('=', `=${value}`));
  return linkOf(seen, 'href');
}

const pendingOf = (browser: TestBrowser) =>
  browser.jar.all().filter(({ name }) => name.includes('gateway_pending'));

test('a tab gets a page that is not stored, and whose script may set one cookie', async t => {
  const { browser } = await open(t, { origins: ORIGINS });
  const seen = await browser.visit(PAGE, { headers: TAB });
  assert.deepEqual([seen.status, seen.location], [200, undefined]);
  assert.equal(seen.headers.get('cache-control'), 'no-store');
  assert.match(
    seen.headers.get('content-security-policy') ?? '',
    /^default-src 'none'; script-src 'sha256-/,
  );
  const [pending] = pendingOf(browser);
  const attributes = 'Path=/; Max-Age=600; Secure; SameSite=Lax';
  assert.equal(linkOf(seen, 'data-cookie'), `${pending?.name}~f=; ${attributes}`);
  assert.ok(pending?.name.startsWith('__Host-'));
  assert.match(linkOf(seen, 'href'), /^http:\/\/127\.0\.0\.1:/);
  assert.ok(
    seen.body.includes('<noscript><meta http-equiv="refresh" content="0; url=http://127.0.0.1:'),
  );
});

const OTHERS: readonly (readonly [what: string, visit: TestVisit])[] = [
  ['a program', {}],
  ['a frame', { headers: { ...TAB, 'sec-fetch-dest': 'iframe' } }],
  [
    'a browser that says no destination',
    { headers: { 'sec-fetch-mode': 'navigate', accept: HTML } },
  ],
  ['a browser that says no mode', { headers: { 'sec-fetch-dest': 'document', accept: HTML } }],
  ['a download, which is for no page', { headers: { ...TAB, accept: '*/*' } }],
  ['a form', { method: 'POST', headers: TAB }],
  ['a HEAD', { method: 'HEAD', headers: TAB }],
];

for (const [what, visit] of OTHERS) {
  test(`${what} is redirected`, async t => {
    const { browser } = await open(t);
    const { body, location, status } = await browser.visit(PAGE, visit);
    assert.deepEqual([status, body], [303, '']);
    assert.match(location ?? '', /^http:\/\/127\.0\.0\.1:/);
  });
}

for (const origin of ORIGINS) {
  for (const sameSite of ['lax', 'strict'] as const) {
    test(`the fragment comes back at ${origin}, sameSite ${sameSite}, and its cookie is gone`, async t => {
      const { browser } = await open(t, { origins: ORIGINS });
      const page = `${origin}/page?x=1`;
      const away = await begin(browser, page, '%2Fusers%3Fid%3D1');
      const end = origin === ORIGINS[0] ? authorize(new URL(away)) : away;
      const { status, way } = await browser.follow(end, authorize, { crossSite: true, sameSite });
      assert.deepEqual([status, way.at(-1)], [0, `${page}#/users?id=1`]);
      assert.deepEqual(pendingOf(browser), []);
    });
  }
}

test('of two tabs each gets its own fragment', async t => {
  const { browser } = await open(t);
  const first = authorize(new URL(await begin(browser, PAGE, 'first')));
  const second = authorize(new URL(await begin(browser, PAGE, 'second')));
  assert.equal((await browser.visit(second)).location, `${PAGE}#second`);
  assert.equal((await browser.visit(first)).location, `${PAGE}#first`);
});

test('a fragment that comes with two values does not count', async t => {
  const { browser } = await open(t);
  const end = authorize(new URL(await begin(browser, PAGE, 'mine')));
  const pairs = browser.jar.for(new URL(end)).map(({ name, value }) => `${name}=${value}`);
  const planted = pairs.map(pair => pair.replace('=mine', '=planted'));
  const cookie = [...new Set([...pairs, ...planted])].join('; ');
  assert.equal((await browser.visit(end, { headers: { cookie } })).location, PAGE);
});

test('the way back after an error keeps the fragment', async t => {
  const { browser } = await open(t);
  const end = new URL(authorize(new URL(await begin(browser, PAGE, 'part'))));
  end.searchParams.set('error', 'access_denied');
  const { body } = await browser.visit(end.href, { headers: TAB });
  assert.ok(body.includes(`<a href="${PAGE}#part">`), body);
});

test('links that are opened again and again do not fill the Cookie field', async t => {
  const { browser } = await open(t);
  for (let count = 0; count < 40; count += 1) await begin(browser, PAGE, 'x'.repeat(2_048));
  const cookies = browser.jar.for(new URL(PAGE));
  const bytes = cookies.reduce((sum, { name, value }) => sum + name.length + value.length + 3, 0);
  assert.ok(bytes <= 28 * 1024, `${bytes} bytes`);
});
