import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorize } from './testing/code-provider.ts';
import { TestBrowser, type TestVisit } from './testing/test-browser.ts';
import { REALM } from './testing/test-gateway.ts';
import { useWorld } from './testing/world.ts';

const { open, provider } = useWorld();
const SESSION = `__Host-gateway_session.${REALM}`;
const PENDING = `__Host-gateway_pending.${REALM}`;
const ORIGINS = ['https://a.test', 'https://b.test'];
const NAVIGATION = { headers: { 'sec-fetch-mode': 'navigate' } };
const ORDERS = ['012', '021', '102', '120', '201', '210'].map(text => [...text].map(Number));

const pagesOf = (origin: string, count = 3) =>
  Array.from({ length: count }, (_, index) => `${origin}/page?tab=${index}`);
const pendingOf = (browser: TestBrowser) =>
  browser.jar.all().filter(({ name }) => name.includes('gateway_pending'));
const sessionOf = (browser: TestBrowser, page: string) => browser.jar.value(page, SESSION);

/**
 * Begins visits of one browser at the same moment. None brings what another's answer sets. Returns
 * where the provider sends each.
 */
async function beginAll(
  browser: TestBrowser,
  pages: readonly string[],
  visit: TestVisit = {},
): Promise<readonly string[]> {
  const seen = await Promise.all(
    pages.map(page => browser.visit(page, { ...NAVIGATION, ...visit })),
  );
  return seen.map(({ location = '' }) => {
    const url = new URL(location);
    return url.hostname === '127.0.0.1' ? authorize(url) : location;
  });
}

for (const order of ORDERS) {
  test(`three tabs without a cookie, opened at once and finished in the order ${order.join(', ')}: each has its page, all one session`, async t => {
    const { browser } = await open(t);
    const pages = pagesOf('https://a.test');
    const ends = await beginAll(browser, pages);
    const sessions = new Set();
    for (const index of order) {
      const seen = await browser.follow(ends[index] ?? '', authorize, { crossSite: true });
      assert.deepEqual([seen.status, seen.url], [0, pages[index]]);
      sessions.add(sessionOf(browser, seen.url));
    }
    assert.equal(sessions.size, 1);
    assert.equal(provider().asked('token').length, 1);
    assert.deepEqual(pendingOf(browser), []);
  });

  test(`the same at a second origin, in the order ${order.join(', ')}`, async t => {
    const { browser } = await open(t, { origins: ORIGINS });
    const pages = pagesOf('https://b.test');
    const handoffs = await beginAll(browser, pages);
    const ends = await beginAll(browser, handoffs);
    const sessions = new Set();
    for (const index of order) {
      const seen = await browser.follow(ends[index] ?? '', authorize, { crossSite: true });
      assert.deepEqual([seen.status, seen.url], [0, pages[index]]);
      for (const origin of ORIGINS) sessions.add(sessionOf(browser, origin));
    }
    assert.equal(sessions.size, 1);
    assert.equal(provider().asked('token').length, 1);
    assert.deepEqual(pendingOf(browser), []);
  });
}

for (const sameSite of ['lax', 'strict', 'none'] as const) {
  test(`tabs opened at once, sameSite ${sameSite}: each ends at its page, on both origins`, async t => {
    for (const origin of ORIGINS) {
      const { browser } = await open(t, { origins: ORIGINS });
      const pages = pagesOf(origin);
      const begun = await beginAll(browser, pages, { sameSite });
      const ends = origin === ORIGINS[0] ? begun : await beginAll(browser, begun, { sameSite });
      for (const [index, end] of ends.entries()) {
        const seen = await browser.follow(end, authorize, { crossSite: true, sameSite });
        assert.deepEqual([seen.status, seen.url], [0, pages[index]]);
      }
      for (const page of pages) assert.equal((await browser.visit(page)).status, 0);
    }
  });
}

test('two tabs one after the other at a second origin: each ends at its page, with one session', async t => {
  const { browser } = await open(t, { origins: ORIGINS });
  const pages = pagesOf('https://b.test', 2);
  const begun: string[] = [];
  for (const page of pages) begun.push(...(await beginAll(browser, [page])));
  const ends: string[] = [];
  for (const handoff of begun) ends.push(...(await beginAll(browser, [handoff])));
  for (const [index, end] of ends.entries())
    assert.deepEqual((await browser.follow(end, authorize)).url, pages[index]);
  assert.equal(provider().asked('token').length, 1);
});

test('a tab that was opened before a login and a step-up of other tabs still ends at its page, with their session', async t => {
  const { browser } = await open(t);
  const pages = pagesOf('https://a.test');
  const ends = await beginAll(browser, pages);
  await browser.follow(ends[0] ?? '', authorize);
  await browser.follow('https://a.test/more', authorize, { scope: ['more'], ...NAVIGATION });
  const id = sessionOf(browser, 'https://a.test/');
  const seen = await browser.follow(ends[1] ?? '', authorize);
  assert.deepEqual([seen.status, seen.url], [0, pages[1]]);
  assert.equal(sessionOf(browser, 'https://a.test/'), id);
  assert.equal(provider().asked('token').length, 2);
});

/** What Keycloak answers a tab whose login page was open while another tab logged in. */
const expired = (end: string) =>
  end.replace(
    /code=[^&]*/,
    'error=temporarily_unavailable&error_description=authentication_expired',
  );

test('a tab whose login has expired at the provider ends at its page, when another tab has logged in', async t => {
  const { browser } = await open(t);
  const pages = pagesOf('https://a.test');
  const [first = '', second = '', third = ''] = await beginAll(browser, pages);
  const early = await browser.visit(expired(third), { crossSite: true });
  assert.deepEqual([early.status, early.setCookies], [502, []]);
  await browser.follow(first, authorize, { crossSite: true });
  const seen = await browser.follow(expired(second), authorize, { crossSite: true });
  assert.deepEqual([seen.status, seen.url], [0, pages[1]]);
  assert.equal(provider().asked('token').length, 1);
  const denied = expired(third).replace('temporarily_unavailable', 'access_denied');
  assert.equal((await browser.visit(denied)).status, 403);
});

test('such a tab whose page needs more than the session has is told so, and not sent to the provider again', async t => {
  const { browser } = await open(t);
  const [first = ''] = await beginAll(browser, pagesOf('https://a.test'));
  const [more = ''] = await beginAll(browser, pagesOf('https://a.test'), { scope: ['more'] });
  await browser.follow(first, authorize);
  assert.equal((await browser.visit(expired(more))).status, 502);
});

test('callbacks of three tabs at the same moment: each ends at its page', async t => {
  const { browser } = await open(t);
  const pages = pagesOf('https://a.test');
  const ends = await beginAll(browser, pages);
  const seen = await Promise.all(ends.map(end => browser.follow(end, authorize)));
  assert.deepEqual(
    seen.map(({ status, url }) => [status, url]),
    pages.map(page => [0, page]),
  );
});

test('another browser with tabs of its own: 403, nothing is exchanged', async t => {
  const { browser, gateway } = await open(t);
  const [foreign = ''] = await beginAll(browser, pagesOf('https://a.test'));
  const stranger = new TestBrowser(gateway);
  await beginAll(stranger, pagesOf('https://a.test'));
  const seen = await stranger.visit(foreign);
  assert.deepEqual([seen.status, seen.setCookies], [403, []]);
  assert.equal(provider().asked('token').length, 0);
  assert.equal((await browser.visit(foreign)).status, 303);
});

test('another browser that logged in with tabs of its own keeps its session, whatever scope the foreign login has', async t => {
  const { browser, gateway } = await open(t);
  const [foreign = ''] = await beginAll(browser, pagesOf('https://a.test'), { scope: ['more'] });
  const stranger = new TestBrowser(gateway);
  const [own = ''] = await beginAll(stranger, pagesOf('https://a.test'));
  await stranger.follow(own, authorize);
  const id = sessionOf(stranger, 'https://a.test/');
  const seen = await stranger.visit(foreign);
  assert.deepEqual([seen.status, seen.setCookies], [403, []]);
  assert.equal(sessionOf(stranger, 'https://a.test/'), id);
  assert.equal(provider().asked('token').length, 1);
});

test("a pending cookie planted before the victim's login does not let the planter log her in as himself later", async t => {
  const { browser: thief, gateway } = await open(t);
  const [first = ''] = await beginAll(thief, pagesOf('https://a.test', 1));
  const [planted] = pendingOf(thief);
  assert.ok(planted);
  const victim = new TestBrowser(gateway);
  const ends = await beginAll(victim, pagesOf('https://a.test', 1));
  victim.jar.take(new URL('https://a.test/'), `${planted.name}=${planted.value}; Path=/; Secure`);
  await victim.follow(ends[0] ?? '', authorize);
  const id = sessionOf(victim, 'https://a.test/');
  const [second = ''] = await beginAll(thief, ['https://a.test/thief'], { scope: ['more'] });
  for (const [end, status] of [
    [first, 303],
    [second, 403],
  ] as const) {
    assert.equal((await victim.visit(end)).status, status);
    assert.equal(sessionOf(victim, 'https://a.test/'), id);
  }
  assert.equal(provider().asked('token').length, 1);
});

test("a planted session, another user's and valid, ends with the victim's login and is not taken over", async t => {
  const { browser: thief, gateway } = await open(t);
  await thief.follow('https://a.test/', authorize);
  const planted = sessionOf(thief, 'https://a.test/') ?? '';
  const victim = new TestBrowser(gateway);
  const ends = await beginAll(victim, pagesOf('https://a.test'));
  victim.jar.take(new URL('https://a.test/'), `${SESSION}=${planted}; Path=/; Secure`);
  const seen = await victim.follow(ends[0] ?? '', authorize);
  assert.equal(seen.change?.set.get('authorization'), 'Bearer access-1');
  assert.notEqual(sessionOf(victim, 'https://a.test/'), planted);
  assert.equal((await thief.visit('https://a.test/')).status, 303);
});

test('a name with two different values does not count, and others do', async t => {
  const { browser } = await open(t);
  const headers = { ...NAVIGATION.headers, cookie: 'theme=dark' };
  const ends: string[] = [];
  // One after the other, so that the jar holds their cookies in this order.
  for (const page of pagesOf('https://a.test', 2))
    ends.push(...(await beginAll(browser, [page], { headers })));
  const [one, two] = pendingOf(browser).map(({ name, value }) => [name, `${name}=${value}`]);
  const cookie = [`${one?.[1]}; ${two?.[1]}; ${one?.[0]}=${'0'.repeat(64)}`];
  assert.equal((await browser.visit(ends[0] ?? '', { headers: { cookie } })).status, 403);
  assert.equal((await browser.visit(ends[1] ?? '', { headers: { cookie } })).status, 303);
});

for (const name of [
  `${PENDING}~`,
  `${PENDING}~0123456`,
  `${PENDING}~012345678`,
  `${PENDING}~0123456G`,
  `${PENDING}.x`,
  `${PENDING}x`,
  '__Host-gateway_pending.other.default',
  `${PENDING.toUpperCase()}`,
  `x${PENDING}`,
]) {
  test(`a cookie "${name}" binds nothing`, async t => {
    const { browser } = await open(t);
    const [end = ''] = await beginAll(browser, pagesOf('https://a.test', 1));
    const cookie = `${name}=${pendingOf(browser)[0]?.value}`;
    assert.equal((await browser.visit(end, { headers: { cookie } })).status, 403);
  });
}

for (const value of ['', '0', 'a'.repeat(63), 'A'.repeat(64), 'g'.repeat(64), 'ab'.repeat(33)]) {
  test(`a pending cookie "${value.slice(0, 12)}" of ${value.length} letters is not made one of ours`, async t => {
    const { browser } = await open(t);
    const headers = { cookie: `${PENDING}=${value}` };
    const { location = '', setCookies } = await browser.visit('https://a.test/', { headers });
    assert.match(
      setCookies.join(),
      /^__Host-gateway_pending\.site\.default(~[0-9a-f]{8})?=1[\w-]{100,};/,
    );
    assert.equal((await browser.visit(authorize(new URL(location)), { headers })).status, 403);
  });
}

test('a session knows 16 pending cookies of its browser at most', async t => {
  const { browser, gateway } = await open(t);
  const ends = await beginAll(browser, pagesOf('https://a.test', 40));
  await browser.visit(ends[39] ?? '');
  await beginAll(browser, pagesOf('https://a.test', 40), { scope: ['more'] });
  await browser.follow('https://a.test/', authorize, { scope: ['more'], ...NAVIGATION });
  const read = gateway.filters[0]?.[0]?.sessions.read(sessionOf(browser, 'https://a.test/') ?? '');
  assert.equal((await read)?.session.pending.length, 16);
});

test('the cookies of tabs: host-only, HttpOnly, Lax, ten minutes, all gone after the login', async t => {
  const { browser } = await open(t, {
    origins: [{ origin: 'https://a.test', includeSubdomains: true }],
  });
  const { setCookies } = await browser.visit('https://a.test/', {
    ...NAVIGATION,
    sameSite: 'none',
  });
  assert.match(
    setCookies.join('\n'),
    /^__Host-gateway_pending\.site\.default~[0-9a-f]{8}=1[\w-]+; Path=\/; Max-Age=600; HttpOnly; Secure; SameSite=Lax$/,
  );
});

test('a login that is begun later puts out none of another tab until there are 16', async t => {
  const { browser, gateway } = await open(t);
  const [first = ''] = await beginAll(browser, pagesOf('https://a.test', 1));
  for (const page of pagesOf('https://a.test', 15)) await beginAll(browser, [page]);
  assert.equal(pendingOf(browser).length, 16);
  assert.equal((await browser.visit(first)).status, 303);
  gateway.advance(600_000);
  assert.equal(browser.jar.for(new URL('https://a.test/.gateway/')).length, 3);
});

test('pages that a browser fetches ahead put out no login of a tab', async t => {
  const { browser } = await open(t);
  const [end = ''] = await beginAll(browser, pagesOf('https://a.test'));
  const ahead = { headers: { ...NAVIGATION.headers, 'sec-purpose': 'prefetch' } };
  for (const page of pagesOf('https://a.test', 20)) {
    const { setCookies, status } = await browser.visit(page, ahead);
    assert.deepEqual([status, setCookies], [401, []]);
  }
  assert.equal((await browser.follow(end, authorize)).status, 0);
});

test('40 tabs at once leave 16 cookies after one more visit, and those that are left end at their pages', async t => {
  const { browser } = await open(t);
  const ends = await beginAll(browser, pagesOf('https://a.test', 40));
  const more = await browser.visit('https://a.test/', NAVIGATION);
  assert.equal(more.setCookies.length, 26);
  assert.equal(pendingOf(browser).length, 16);
  assert.equal((await browser.visit(ends[0] ?? '')).status, 403);
  const seen = await browser.follow(ends[39] ?? '', authorize);
  assert.deepEqual([seen.status, seen.url], [0, 'https://a.test/page?tab=39']);
});

test('66 requests of a page at once share one cookie, and old browsers show by Accept that they navigate', async t => {
  const { browser } = await open(t);
  for (const headers of [{ accept: '*/*' }, {}])
    await beginAll(browser, pagesOf('https://a.test', 66), { headers });
  assert.deepEqual(
    pendingOf(browser).map(({ name }) => name),
    [PENDING, `${PENDING}~00000001`],
  );
  const other = await open(t);
  await beginAll(other.browser, pagesOf('https://a.test', 2), {
    headers: { accept: 'text/html,*/*;q=0.8' },
  });
  assert.equal(pendingOf(other.browser).length, 2);
});

test('10,000 pending cookies are read in a moment', async t => {
  const { browser } = await open(t);
  const cookie = Array.from(
    { length: 10_000 },
    (_, index) => `${PENDING}~${index.toString(16).padStart(8, '0')}=${'ab'.repeat(32)}`,
  ).join('; ');
  const before = process.cpuUsage();
  const seen = await browser.visit('https://a.test/', { headers: { cookie } });
  assert.equal(seen.setCookies.length, 49);
  assert.ok(process.cpuUsage(before).user < 1_000_000);
});

test('a ticket in a browser that is logged in by another session: 403, and its session stays', async t => {
  const { browser: thief, gateway } = await open(t, { origins: ORIGINS });
  await thief.follow('https://a.test/', authorize);
  const [handoff = ''] = await beginAll(thief, ['https://b.test/']);
  const ticket = (await thief.visit(handoff)).location ?? '';
  const victim = new TestBrowser(gateway);
  await victim.follow('https://b.test/', authorize);
  const id = sessionOf(victim, 'https://b.test/');
  const seen = await victim.visit(ticket);
  assert.deepEqual([seen.status, seen.setCookies], [403, []]);
  assert.equal(sessionOf(victim, 'https://b.test/'), id);
});
