import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RecordStore, StoreUnavailable } from '../store/record-store.ts';
import { createAttempt, createHandoff } from './attempt.ts';
import { openLoginFilter } from './open-login-filter.ts';
import { authorize, FAR, grantCodes } from './testing/code-provider.ts';
import { TestBrowser } from './testing/test-browser.ts';
import { REALM } from './testing/test-gateway.ts';
import { useWorld } from './testing/world.ts';

const { open, provider } = useWorld();
const PAGE = 'https://a.test/page';
const SESSION = `gateway_session.${REALM}`;

test('a stolen store holds nothing that a thief could use', async t => {
  const { browser, gateway } = await open(t, { origins: ['https://a.test', 'https://b.test'] });
  const claims = { email: 'alice@example.com', exp: FAR };
  const issued: string[] = [];
  grantCodes(provider(), (_, count) => {
    const tokens = { access_token: `secret-access-${count}`, refresh_token: `secret-refresh-${count}` };
    issued.push(...Object.values(tokens));
    return { ...tokens, claims };
  });
  const pending = (await browser.visit(PAGE)).location ?? '';
  await browser.follow('https://b.test/path-of-alice', authorize);
  const handoff = (await new TestBrowser(gateway).visit('https://b.test/')).location ?? '';
  const urls = [pending, handoff].flatMap(url => [...new URL(url).searchParams.values()]);
  const cookies = browser.jar.all().map(({ value }) => value);
  const dump = await gateway.dump();
  const secrets = [...urls, ...cookies, ...issued].filter(
    text => text.length >= 12 && !text.startsWith('https:'),
  );
  assert.ok(secrets.length >= 8);
  for (const secret of [...secrets, 'alice@example.com', 'path-of-alice', '192.0.2.1']) {
    assert.ok(!dump.includes(secret), 'in plain');
    if (/^[0-9a-f]{64}$/.test(secret)) assert.ok(!dump.includes(Buffer.from(secret, 'hex')), 'as bytes');
    if (/^[\w-]{43}$/.test(secret)) assert.ok(!dump.includes(Buffer.from(secret, 'base64url')), 'as bytes');
  }
});

test('a key of the store is no session id', async t => {
  const { browser, gateway } = await open(t);
  await browser.follow(PAGE, authorize);
  const key = gateway.filters[0]?.[0]?.sessions.keyOf(browser.jar.value(PAGE, SESSION) ?? '') ?? '';
  const seen = await browser.visit(PAGE, { headers: { cookie: `${SESSION}=${key}` } });
  assert.equal(seen.status, 303);
});

for (const kind of ['state', 'handoff'] as const) {
  test(`a ${kind} is no session id`, async t => {
    const { browser } = await open(t, { origins: ['https://a.test', 'https://b.test'] });
    const host = kind === 'state' ? 'a' : 'b';
    const { location = '' } = await browser.visit(`https://${host}.test/`);
    const value = new URL(location).searchParams.get(kind) ?? '';
    assert.match(value, /^[\w-]{43}$/);
    const seen = await browser.visit(PAGE, { headers: { cookie: `${SESSION}=${value}` } });
    assert.equal(seen.status, 303);
  });
}

const ODD_COOKIES = [
  '',
  '0',
  'A'.repeat(64),
  'ab'.repeat(33),
  '__proto__',
  '%00',
  '"quoted"',
  'x'.repeat(50_000),
];

for (const value of ODD_COOKIES) {
  test(`a session cookie "${value.slice(0, 12)}" of ${value.length} letters is none`, async t => {
    const { browser } = await open(t);
    assert.equal((await browser.visit(PAGE, { headers: { cookie: `${SESSION}=${value}` } })).status, 303);
  });
}

test('one client address: the 1,001st attempt drops the first', async t => {
  const { gateway } = await open(t);
  const begin = async (clientAddress: string) => {
    const browser = new TestBrowser(gateway);
    const { location = '' } = await browser.visit(PAGE, { clientAddress });
    return { browser, callback: authorize(new URL(location)) };
  };
  const elsewhere = await begin('2001:db8:0:1::1');
  const first = await begin('2001:db8::1');
  for (let index = 0; index < 1_000; index += 1) await begin(`2001:db8::${index.toString(16)}`);
  assert.equal((await first.browser.visit(first.callback)).status, 400);
  assert.equal((await elsewhere.browser.visit(elsewhere.callback)).status, 303);
});

test('an attempt and a hand-off are each one of 16 of a browser, 1,000 of a network, 100,000 of the gateway', async t => {
  const { gateway } = await open(t);
  const [[filter] = []] = gateway.filters;
  assert.ok(filter);
  const bounds: (readonly number[] | undefined)[] = [];
  const create: RecordStore['create'] = async (_key, _value, _ttl, groups) => {
    bounds.push(groups?.map(({ most }) => most));
    assert.equal(new Set(groups?.map(({ name }) => name)).size, 3);
    return true;
  };
  const counting = { ...filter, store: { ...filter.store, create } };
  const wish = { origin: PAGE, returnUrl: PAGE, scope: [], pending: 'p', sessionCookies: false };
  const client = { clientAddress: '192.0.2.1' };
  await createAttempt(counting, { ...wish, nonce: 'n', codeVerifier: 'v' }, client);
  await createHandoff(counting, wish, client);
  assert.deepEqual(bounds, Array(2).fill([16, 1_000, 100_000]));
});

test('the store is down: StoreUnavailable, at pages and at the own paths, never through', async t => {
  const { browser, gateway } = await open(t);
  await browser.follow(PAGE, authorize);
  const { location = '' } = await new TestBrowser(gateway).visit(PAGE);
  await gateway.store.close();
  await assert.rejects(browser.visit(PAGE), StoreUnavailable);
  await assert.rejects(new TestBrowser(gateway).visit(PAGE), StoreUnavailable);
  await assert.rejects(browser.visit(authorize(new URL(location))), StoreUnavailable);
});

test('a session is not used with another provider or client: its tokens would go there', async t => {
  const { browser, gateway } = await open(t);
  await browser.follow(PAGE, authorize);
  const [[filter] = []] = gateway.filters;
  assert.ok(filter);
  const id = browser.jar.value(PAGE, SESSION) ?? '';
  const settings = { ...filter.settings, useSessionCookies: { value: false, ifRequestHeader: undefined } };
  const anew = (changes: object) => openLoginFilter({ ...filter, settings: { ...settings, ...changes } });
  assert.ok(await anew({ clientSessionMaxIdle: 1 }).sessions.read(id));
  assert.equal(await anew({ authorizationURL: 'https://other.test' }).sessions.read(id), undefined);
  assert.equal(await anew({ clientID: 'other' }).sessions.read(id), undefined);
});

test('200 requests without session at once are all sent to log in, each with its own state', async t => {
  const { gateway } = await open(t);
  const seen = await Promise.all(Array.from({ length: 200 }, () => new TestBrowser(gateway).visit(PAGE)));
  const states = seen.map(({ location = '' }) => new URL(location).searchParams.get('state'));
  assert.equal(new Set(states).size, 200);
});
