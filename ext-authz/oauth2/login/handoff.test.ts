import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorize, grantCodes } from '#ext-authz/oauth2/testing/code-provider.ts';
import { TestBrowser } from '#ext-authz/oauth2/testing/test-browser.ts';
import { REALM, toProtected } from '#ext-authz/oauth2/testing/test-gateway.ts';
import { useWorld } from '#ext-authz/oauth2/testing/world.ts';
import { ticketUrl } from './handoff.ts';
import { openHandoff } from './handoff-text.ts';

const { open, provider } = useWorld();
const ORIGINS = ['https://a.test', 'https://b.test', 'https://c.test'];
const ENDPOINT = '/.gateway/oauth2/redirection-endpoint';
const SESSION = `__Host-gateway_session.${REALM}`;
const XSRF = `gateway_xsrf.${REALM}`;

const providers = (way: readonly string[]) => way.filter(step => step === 'provider').length;

/** Logs in at `a.test`. Returns where `b.test` is sent, and where that sends the browser. */
async function reachTicket(browser: TestBrowser): Promise<{ handoff: string; ticket: string }> {
  await browser.follow('https://a.test/', authorize);
  const handoff = (await browser.visit('https://b.test/page')).location ?? '';
  const ticket = (await browser.visit(handoff)).location ?? '';
  return { handoff, ticket };
}

test('logged in at the first origin: the second has the same session without a second login', async t => {
  const { browser } = await open(t, { origins: ORIGINS });
  await browser.follow('https://a.test/', authorize);
  const seen = await browser.follow('https://b.test/page?x=1', authorize);
  assert.deepEqual([seen.status, seen.url], [0, 'https://b.test/page?x=1']);
  assert.equal(providers(seen.way), 0);
  for (const name of [SESSION, XSRF])
    assert.equal(
      browser.jar.value('https://b.test/', name),
      browser.jar.value('https://a.test/', name),
    );
});

test('logged in nowhere: the second origin logs in at the first, once, for all', async t => {
  const { browser } = await open(t, { origins: ORIGINS });
  const seen = await browser.follow('https://b.test/page', authorize, { scope: ['b'] });
  assert.deepEqual([seen.status, seen.url, providers(seen.way)], [0, 'https://b.test/page', 1]);
  assert.equal((await browser.visit('https://a.test/')).status, 0);
  assert.equal(providers((await browser.follow('https://c.test/', authorize)).way), 0);
});

test('URLs of a hand-off hold its id, then the ticket, and no more', async t => {
  const { browser } = await open(t, { origins: ORIGINS });
  const { handoff, ticket } = await reachTicket(browser);
  assert.match(handoff, new RegExp(`^https://a\\.test${ENDPOINT}\\?handoff=[\\w-]+$`));
  assert.match(
    ticket,
    new RegExp(`^https://b\\.test${ENDPOINT}\\?handoff=[\\w-]{43}&ticket=[\\w-]{43}$`),
  );
  const id = browser.jar.value('https://a.test/', SESSION) ?? '';
  assert.ok(!`${handoff}${ticket}`.includes(id));
});

test('the target of a ticket is the stored origin, whatever the Host says', async t => {
  const origins = [
    'https://a.test',
    { origin: 'https://b.test', internalOrigin: 'http://b.internal' },
  ];
  const { browser } = await open(t, { origins });
  await browser.follow('https://a.test/', authorize);
  const { location = '' } = await browser.visit('https://b.test/x', {
    internal: 'http://b.internal',
  });
  const ticket = (await browser.visit(location)).location ?? '';
  assert.ok(ticket.startsWith('https://b.test/.gateway/'));
  const seen = await browser.visit(ticket, { internal: 'http://b.internal' });
  assert.equal(seen.location, 'https://b.test/x');
});

test('a ticket in another browser: 403, consumed, no cookie', async t => {
  const { browser, gateway } = await open(t, { origins: ORIGINS });
  const { ticket } = await reachTicket(browser);
  const stranger = new TestBrowser(gateway);
  await stranger.visit('https://b.test/');
  const seen = await stranger.visit(ticket);
  assert.deepEqual([seen.status, seen.setCookies], [403, []]);
  assert.equal((await browser.visit(ticket)).status, 403);
});

test('a ticket that the browser fetches ahead is not used up', async t => {
  const { browser } = await open(t, { origins: ORIGINS });
  const { ticket } = await reachTicket(browser);
  const ahead = await browser.visit(ticket, { headers: { 'sec-purpose': 'prefetch' } });
  assert.deepEqual([ahead.status, ahead.setCookies], [503, []]);
  const seen = await browser.follow(ticket, authorize);
  assert.deepEqual([seen.status, seen.url], [0, 'https://b.test/page']);
});

test('a ticket counts once, even of 20 at the same time', async t => {
  const { browser } = await open(t, { origins: ORIGINS });
  const { ticket } = await reachTicket(browser);
  const seen = await Promise.all(Array.from({ length: 20 }, () => browser.visit(ticket)));
  assert.deepEqual(
    seen.map(({ status }) => status).filter(status => status !== 403),
    [303],
  );
});

test('of the tickets of one session the newest 16 are kept, and those of others stay', async t => {
  const { browser, gateway } = await open(t, { origins: ORIGINS });
  const other = new TestBrowser(gateway);
  const [{ ticket: foreign }, { handoff, ticket }] = [
    await reachTicket(other),
    await reachTicket(browser),
  ];
  const more: string[] = [];
  for (let index = 0; index < 16; index += 1)
    more.push((await browser.visit(handoff)).location ?? '');
  assert.equal((await browser.visit(ticket)).status, 403);
  assert.equal((await browser.visit(more[0] ?? '')).status, 303);
  assert.equal((await other.visit(foreign)).status, 303);
});

test('a hand-off counts once, whatever tickets there are for it', async t => {
  const { browser } = await open(t, { origins: ORIGINS });
  const { handoff, ticket } = await reachTicket(browser);
  const other = (await browser.visit(handoff)).location ?? '';
  assert.notEqual(other, ticket);
  const name = `__Host-gateway_pending.${REALM}`;
  const headers = { cookie: `${name}=${browser.jar.value('https://b.test/', name)}` };
  assert.equal((await browser.visit(ticket, { headers })).status, 303);
  assert.equal((await browser.visit(other, { headers })).status, 403);
});

test('a ticket expires after a minute', async t => {
  const { browser, gateway } = await open(t, { origins: ORIGINS });
  const { ticket } = await reachTicket(browser);
  gateway.advance(60_001);
  assert.equal((await browser.visit(ticket)).status, 403);
});

test('a ticket belongs to its hand-off and its origin', async t => {
  const { browser } = await open(t, { origins: ORIGINS });
  const { ticket } = await reachTicket(browser);
  const other = (await browser.visit((await browser.visit('https://b.test/other')).location ?? ''))
    .location;
  const swapped = new URL(ticket);
  swapped.searchParams.set('handoff', new URL(other ?? '').searchParams.get('handoff') ?? '');
  assert.equal((await browser.visit(swapped.href)).status, 403);
  const again = other ?? '';
  const foreign = {
    headers: {
      cookie: `__Host-gateway_pending.${REALM}=${browser.jar.value('https://b.test/', `__Host-gateway_pending.${REALM}`)}`,
    },
  };
  assert.equal((await browser.visit(again.replace('b.test', 'c.test'), foreign)).status, 403);
});

test("another browser's hand-off gives no browser a victim's session", async t => {
  const { browser, gateway } = await open(t, { origins: ORIGINS });
  await browser.follow('https://a.test/', authorize);
  const thief = new TestBrowser(gateway);
  const { location = '' } = await thief.visit('https://b.test/');
  const seen = await browser.follow(location, authorize);
  assert.equal(seen.status, 403);
  assert.equal(browser.jar.value('https://b.test/', SESSION), undefined);
});

for (const handoff of ['', 'x', 'ab'.repeat(32), '__proto__']) {
  test(`an unknown hand-off "${handoff.slice(0, 10)}": 400`, async t => {
    const { browser } = await open(t, { origins: ORIGINS });
    assert.equal((await browser.visit(`https://a.test${ENDPOINT}?handoff=${handoff}`)).status, 400);
  });
}

test('a hand-off is answered by the origin that holds the login only', async t => {
  const { browser } = await open(t, { origins: ORIGINS });
  await browser.follow('https://a.test/', authorize);
  const { location = '' } = await browser.visit('https://b.test/');
  assert.equal((await browser.visit(location.replace('a.test', 'c.test'))).status, 400);
});

test('a hand-off whose session has ended meanwhile begins again', async t => {
  const { browser, gateway } = await open(t, { origins: ORIGINS });
  const { ticket } = await reachTicket(browser);
  const [[filter] = []] = gateway.filters;
  await filter?.sessions.remove(
    filter.sessions.keyOf(browser.jar.value('https://a.test/', SESSION) ?? ''),
  );
  const seen = await browser.follow(ticket, authorize);
  assert.deepEqual([seen.status, seen.url, providers(seen.way)], [0, 'https://b.test/page', 1]);
});

test('strict cookies are handed over too', async t => {
  const { browser } = await open(t, { origins: ORIGINS });
  const seen = await browser.follow('https://b.test/page', authorize, { sameSite: 'strict' });
  assert.deepEqual([seen.status, seen.url, providers(seen.way)], [0, 'https://b.test/page', 1]);
  const cookie = browser.jar
    .all()
    .find(({ name, domain }) => name === SESSION && domain === 'b.test');
  assert.equal(cookie?.attributes.get('samesite'), 'Strict');
});

test('includeSubdomains: a host below logs in at the origin, and its cookies have Domain', async t => {
  const { browser } = await open(t, {
    origins: [{ origin: 'https://a.test', includeSubdomains: true }],
  });
  const seen = await browser.follow('https://www.a.test/page', authorize);
  assert.deepEqual([seen.status, seen.url, providers(seen.way)], [0, 'https://www.a.test/page', 1]);
  assert.ok(browser.jar.all().every(({ domain, hostOnly }) => domain === 'a.test' && !hostOnly));
  assert.equal((await browser.visit('https://other.a.test/')).status, 0);
  assert.equal((await browser.visit('https://evila.test/')).status, 403);
});

test('a step-up at the second origin: one more login with the union of scopes, a new session on both', async t => {
  const { browser, gateway } = await open(t, { origins: ORIGINS });
  grantCodes(provider());
  await browser.follow('https://b.test/', authorize, { scope: ['read'] });
  const old = browser.jar.value('https://b.test/', SESSION) ?? '';
  const asked: string[] = [];
  const seen = await browser.follow(
    'https://b.test/admin',
    url => {
      asked.push(url.searchParams.get('scope') ?? '');
      return authorize(url);
    },
    { scope: ['write'] },
  );
  assert.deepEqual(
    [seen.status, seen.url, asked],
    [0, 'https://b.test/admin', ['openid read write']],
  );
  assert.notEqual(browser.jar.value('https://b.test/', SESSION), old);
  assert.equal(
    browser.jar.value('https://b.test/', SESSION),
    browser.jar.value('https://a.test/', SESSION),
  );
  assert.equal(await gateway.filters[0]?.[0]?.sessions.read(old), undefined);
});

test('a session that the second origin cannot use is not handed over again: one new login', async t => {
  const { browser, gateway } = await open(t, { origins: ORIGINS });
  await browser.follow('https://b.test/', authorize);
  gateway.judge(token =>
    token === 'access-0' ? { kind: 'invalid', check: 'revoked' } : { kind: 'valid' },
  );
  const seen = await browser.follow('https://b.test/', authorize);
  assert.deepEqual([seen.status, providers(seen.way)], [0, 1]);
});

test('a step-up ends the old session though the first origin has lost its cookies', async t => {
  const { browser, gateway } = await open(t, { origins: ORIGINS });
  await browser.follow('https://b.test/', authorize);
  const old = browser.jar.value('https://b.test/', SESSION) ?? '';
  browser.jar.take(new URL('https://a.test/'), `${SESSION}=; Path=/; Max-Age=0; Secure`);
  const { way } = await browser.follow('https://c.test/', authorize, { scope: ['write'] });
  assert.equal(providers(way), 1);
  assert.ok(await gateway.filters[0]?.[0]?.sessions.read(old));
  const seen = await browser.follow('https://b.test/', authorize, { scope: ['write'] });
  assert.deepEqual([seen.status, providers(seen.way)], [0, 0]);
  assert.equal(await gateway.filters[0]?.[0]?.sessions.read(old), undefined);
});

test('no ticket for an origin that is no longer protected', async t => {
  const { browser, gateway } = await open(t, { origins: ORIGINS });
  await browser.follow('https://a.test/', authorize);
  const { location = '' } = await browser.visit('https://b.test/');
  const [[filter] = []] = gateway.filters;
  assert.ok(filter);
  const handoff = openHandoff(filter, new URL(location).searchParams.get('handoff') ?? '');
  assert.ok(handoff);
  const id = browser.jar.value('https://a.test/', SESSION) ?? '';
  const protectedOrigins = ['https://a.test', 'https://c.test', 'https://b.test:8443'].map(
    toProtected,
  );
  const anew = { ...filter, settings: { ...filter.settings, protectedOrigins } };
  assert.equal(await ticketUrl(anew, handoff, id), undefined);
  assert.ok(await ticketUrl(filter, handoff, id));
});

test('a ticket for a host below an origin is for that very domain and scheme', async t => {
  const { browser, gateway } = await open(t, {
    origins: ['https://a.test', 'https://xb.test', 'https://x.b.test'],
  });
  await browser.follow('https://a.test/', authorize);
  const [[filter] = []] = gateway.filters;
  assert.ok(filter);
  const id = browser.jar.value('https://a.test/', SESSION) ?? '';
  const isGiven = async (host: string, origin: string) => {
    const { location = '' } = await browser.visit(`https://${host}/`);
    const below = { origin, includeSubdomains: true };
    const settings = {
      ...filter.settings,
      protectedOrigins: ['https://a.test', below].map(toProtected),
    };
    const handoff = openHandoff(filter, new URL(location).searchParams.get('handoff') ?? '');
    assert.ok(handoff);
    return (await ticketUrl({ ...filter, settings }, handoff, id)) !== undefined;
  };
  assert.equal(await isGiven('x.b.test', 'https://b.test'), true);
  assert.equal(await isGiven('x.b.test', 'http://b.test'), false);
  assert.equal(await isGiven('xb.test', 'https://b.test'), false);
});
