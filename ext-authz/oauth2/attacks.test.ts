import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLoginFilter } from '#ext-authz/oauth2/login/open-login-filter.ts';
import { type RecordStore, StoreUnavailable } from '#ext-authz/store/record-store.ts';
import { authorize, FAR, grantCodes } from './testing/code-provider.ts';
import { TestBrowser } from './testing/test-browser.ts';
import { REALM, type TestGateway } from './testing/test-gateway.ts';
import { useWorld } from './testing/world.ts';

const { open, provider } = useWorld();
const PAGE = 'https://a.test/page';
const SESSION = `__Host-gateway_session.${REALM}`;

test('a stolen store holds nothing that a thief could use', async t => {
  const { browser, gateway } = await open(t, { origins: ['https://a.test', 'https://b.test'] });
  const claims = { email: 'alice@example.com', exp: FAR };
  const issued: string[] = [];
  grantCodes(provider(), (_, count) => {
    const tokens = {
      access_token: `secret-access-${count}`,
      refresh_token: `secret-refresh-${count}`,
    };
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
    if (/^[0-9a-f]{64}$/.test(secret))
      assert.ok(!dump.includes(Buffer.from(secret, 'hex')), 'as bytes');
    if (/^[\w-]{43}$/.test(secret))
      assert.ok(!dump.includes(Buffer.from(secret, 'base64url')), 'as bytes');
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
    assert.match(value, /^[\w-]{43,}$/);
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
    assert.equal(
      (await browser.visit(PAGE, { headers: { cookie: `${SESSION}=${value}` } })).status,
      303,
    );
  });
}

test('logins that others begin end no other login, and failing callbacks leave nothing in the store', async t => {
  const { browser: victim, gateway } = await open(t, {
    origins: ['https://a.test', 'https://b.test'],
  });
  const [[filter] = []] = gateway.filters;
  assert.ok(filter);
  const kept = new Set<string>();
  const { store } = filter;
  const create = store.create.bind(store);
  const listening: RecordStore['create'] = (key, ...rest) => {
    kept.add(key);
    return create(key, ...rest);
  };
  Object.assign(store, { create: listening });
  const { location = '' } = await victim.visit(PAGE);
  const other = await victim.visit('https://b.test/x');
  grantCodes(provider(), () => ({ error: 'invalid_grant' }));
  for (let index = 0; index < 50; index += 1) {
    const stranger = new TestBrowser(gateway);
    await stranger.visit('https://b.test/');
    const begun = (await stranger.visit(PAGE)).location ?? '';
    assert.equal(kept.size, index);
    assert.equal((await stranger.visit(authorize(new URL(begun)))).status, 502);
  }
  for (const key of kept) assert.equal(await store.read(key), undefined);
  grantCodes(provider());
  const seen = await victim.follow(authorize(new URL(location)), authorize);
  assert.deepEqual([seen.status, seen.url], [0, PAGE]);
  assert.equal((await victim.follow(other.location ?? '', authorize)).url, 'https://b.test/x');
});

test('a store that fails while it ends the session before leaves no new one, which nobody would know', async t => {
  const { browser, gateway } = await open(t);
  await browser.follow(PAGE, authorize);
  const { sessions, store } = gateway.filters[0]?.[0] ?? assert.fail();
  const before = sessions.keyOf(browser.jar.value(PAGE, SESSION) ?? '');
  const remove = store.remove.bind(store);
  const failing: RecordStore['remove'] = key =>
    key === before ? Promise.reject(new StoreUnavailable('away')) : remove(key);
  Object.assign(store, { remove: failing });
  const { location = '' } = await browser.visit(PAGE, { scope: ['more'] });
  await assert.rejects(browser.visit(authorize(new URL(location))), StoreUnavailable);
  assert.equal((await browser.visit(PAGE)).status, 0);
  assert.equal(await sessions.removeUser('alice'), 1);
});

test('a store that fails after the session before would have ended leaves that one', async t => {
  const { browser, gateway } = await open(t, { origins: ['https://a.test', 'https://b.test'] });
  const page = 'https://b.test/page';
  await browser.follow(page, authorize);
  const { location: handoff = '' } = await browser.visit(page, { scope: ['more'] });
  const { location = '' } = await browser.visit(handoff);
  storeOf(gateway, store => ({
    create: (key, value, ttlMs, groups = []) =>
      ttlMs === 60_000 ? unavailable() : store.create(key, value, ttlMs, groups),
  }));
  await assert.rejects(browser.visit(authorize(new URL(location))), StoreUnavailable);
  assert.equal((await browser.visit(page)).status, 0);
});

for (const [what, slow] of [
  ['to make the session', 'create'],
  ['to end the session before', 'remove'],
] as const)
  test(`a store that takes longer than the check ${what} leaves no session that nobody knows`, async t => {
    const { browser, gateway } = await open(t);
    await browser.follow(PAGE, authorize);
    const { location = '' } = await browser.visit(PAGE, { scope: ['more'] });
    const check = new AbortController();
    storeOf(gateway, store => ({
      [slow]: async (...args: Parameters<RecordStore['create']>) => {
        const [, , , groups = []] = args;
        if (slow === 'remove' || groups.some(({ most }) => most === 10_000)) check.abort();
        return slow === 'create' ? store.create(...args) : store.remove(args[0]);
      },
    }));
    const late = browser.visit(authorize(new URL(location)), { signal: check.signal });
    await assert.rejects(late, StoreUnavailable);
    const left = slow === 'create' ? 1 : 0;
    assert.equal(await gateway.filters[0]?.[0]?.sessions.removeUser('alice'), left);
  });

test('a session that the store makes without saying so in time does not stay', async t => {
  const { browser, gateway } = await open(t);
  const { location = '' } = await browser.visit(PAGE);
  storeOf(gateway, store => ({
    create: async (...args) => {
      const made = await store.create(...args);
      return (args[3] ?? []).length > 0 ? unavailable() : made;
    },
  }));
  await assert.rejects(browser.visit(authorize(new URL(location))), StoreUnavailable);
  assert.equal(await gateway.filters[0]?.[0]?.sessions.removeUser('alice'), 0);
});

const unavailable = () => Promise.reject(new StoreUnavailable('away'));

/** Changes how the store of a gateway does some of its calls. */
function storeOf(
  { store }: TestGateway,
  change: (before: RecordStore) => Partial<RecordStore>,
): void {
  const { create, remove } = store;
  const before = { ...store, create: create.bind(store), remove: remove.bind(store) };
  Object.assign(store, change(before));
}

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
  const settings = {
    ...filter.settings,
    useSessionCookies: { value: false, ifRequestHeader: undefined },
  };
  const anew = (changes: object) =>
    openLoginFilter({ ...filter, settings: { ...settings, ...changes } });
  assert.ok(await anew({ clientSessionMaxIdle: 1 }).sessions.read(id));
  assert.equal(await anew({ authorizationURL: 'https://other.test' }).sessions.read(id), undefined);
  assert.equal(await anew({ clientID: 'other' }).sessions.read(id), undefined);
});

test('200 requests without session at once are all sent to log in, each with its own state', async t => {
  const { gateway } = await open(t);
  const seen = await Promise.all(
    Array.from({ length: 200 }, () => new TestBrowser(gateway).visit(PAGE)),
  );
  const states = seen.map(({ location = '' }) => new URL(location).searchParams.get('state'));
  assert.equal(new Set(states).size, 200);
});
