import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorize } from './testing/code-provider.ts';
import { TestBrowser } from './testing/test-browser.ts';
import { REALM } from './testing/test-gateway.ts';
import { useWorld } from './testing/world.ts';

const { open, provider } = useWorld();
const ORIGIN = 'https://corp.test';
const PAGE = `${ORIGIN}/page`;
const NEIGHBOUR = new URL('https://evil.corp.test/');
const SESSION = `__Host-gateway_session.${REALM}`;

/** A page of a neighbour sets what it likes for the whole domain. */
function plant(victim: TestBrowser, name: string, value: string): void {
  for (const planted of [name, `__Host-${name}`, name.replace('__Host-', '')])
    for (const path of ['/', '/.gateway/oauth2/'])
      victim.jar.take(NEIGHBOUR, `${planted}=${value}; Domain=corp.test; Path=${path}; Secure`);
}

/** Begins a login of the attacker's own and plants its cookies. Where the victim is sent then. */
async function plantLogin(attacker: TestBrowser, victim: TestBrowser): Promise<string> {
  const { location = '' } = await attacker.visit(PAGE);
  for (const { name, value } of attacker.jar.all()) plant(victim, name, value);
  return authorize(new URL(location));
}

for (const sameSite of [undefined, 'lax', 'strict', 'none'] as const) {
  test(`a login that a neighbour plants does not replace the victim's session, sameSite ${sameSite}`, async t => {
    const { browser: victim, gateway } = await open(t, { origins: [ORIGIN] });
    await victim.follow(PAGE, authorize, { sameSite });
    const id = victim.jar.value(PAGE, SESSION);
    const callback = await plantLogin(new TestBrowser(gateway), victim);
    for (const crossSite of [false, true]) {
      const seen = await victim.visit(callback, { crossSite });
      assert.deepEqual([seen.status, seen.setCookies], [403, []]);
    }
    assert.equal(victim.jar.value(PAGE, SESSION), id);
    assert.equal(provider().asked('token').length, 1);
  });
}

test('a login that a neighbour plants logs in no user without a session', async t => {
  const { browser: victim, gateway } = await open(t, { origins: [ORIGIN] });
  const callback = await plantLogin(new TestBrowser(gateway), victim);
  assert.deepEqual((await victim.visit(callback)).setCookies, []);
  assert.equal((await victim.visit(PAGE)).status, 303);
});

test('a session that a neighbour plants is none', async t => {
  const { browser: attacker, gateway } = await open(t, { origins: [ORIGIN] });
  await attacker.follow(PAGE, authorize);
  const victim = new TestBrowser(gateway);
  for (const { name, value } of attacker.jar.all()) plant(victim, name, value);
  assert.equal((await victim.visit(PAGE)).status, 303);
});

test("a session that a neighbour plants beside the victim's own neither replaces nor ends it", async t => {
  const { browser: attacker, gateway } = await open(t, { origins: [ORIGIN] });
  await attacker.follow(PAGE, authorize);
  const victim = new TestBrowser(gateway);
  await victim.follow(PAGE, authorize);
  for (const { name, value } of attacker.jar.all()) plant(victim, name, value);
  const { change, status } = await victim.visit(PAGE);
  assert.deepEqual([status, change?.set.get('authorization')], [0, 'Bearer access-1']);
});

test('an xsrf cookie that a neighbour plants does not reach the application', async t => {
  const { browser } = await open(t, { origins: [ORIGIN] });
  await browser.follow(PAGE, authorize);
  const name = `gateway_xsrf.${REALM}`;
  const own = browser.jar.value(PAGE, name) ?? '';
  browser.jar.take(NEIGHBOUR, `${name}=planted; Domain=corp.test; Path=/page; Secure`);
  const { change } = await browser.visit(PAGE, { method: 'POST' });
  assert.deepEqual(change?.cookies, new Map([[name, own]]));
});

for (const [read, planted] of [
  ['Django', (name: string) => `\u00c2\u00a0${name}`],
  ['PHP', (name: string) => name.replaceAll('.', '_')],
] as const) {
  test(`nor does one that ${read} would take for it`, async t => {
    const { browser } = await open(t, { origins: [ORIGIN] });
    await browser.follow(PAGE, authorize);
    const name = `gateway_xsrf.${REALM}`;
    const own = browser.jar.all().map(each => `${each.name}=${each.value}`);
    const cookie = [`${planted(name)}=planted`, ...own].join('; ');
    const { change } = await browser.visit(PAGE, { method: 'POST', headers: { cookie } });
    assert.deepEqual(change?.cookies, new Map([[name, browser.jar.value(PAGE, name)]]));
  });
}

test('a hand-off that a neighbour plants gives no browser a session', async t => {
  const { browser: attacker, gateway } = await open(t, { origins: ['https://login.test', ORIGIN] });
  await attacker.follow('https://login.test/', authorize);
  const handoff = (await attacker.visit(PAGE)).location ?? '';
  const { location: ticket = '' } = await attacker.visit(handoff);
  const victim = new TestBrowser(gateway);
  for (const { domain, name, value } of attacker.jar.all())
    if (domain === 'corp.test') plant(victim, name, value);
  const seen = await victim.visit(ticket);
  assert.deepEqual([seen.status, seen.setCookies], [403, []]);
});

for (const blank of ['\u00a0', '\u0085', '\u001c', '\ufeff']) {
  test(`a name that begins with U+${blank.charCodeAt(0).toString(16)} is not one with the prefix`, async t => {
    const { browser: attacker, gateway } = await open(t, { origins: [ORIGIN] });
    const { location = '' } = await attacker.visit(PAGE);
    const cookie = attacker.jar.all().map(({ name, value }) => `${blank}${name}=${value}`);
    const seen = await new TestBrowser(gateway).visit(authorize(new URL(location)), {
      headers: { cookie },
    });
    assert.deepEqual([seen.status, seen.setCookies], [403, []]);
  });
}

test('over http nothing keeps a neighbour off, but two values under one name count as none', async t => {
  const page = 'http://corp.test/';
  const { browser: victim, gateway } = await open(t, { origins: ['http://corp.test'] });
  const { location: own = '' } = await victim.visit(page);
  const attacker = new TestBrowser(gateway);
  const { location = '' } = await attacker.visit(page);
  for (const { name, value } of attacker.jar.all())
    victim.jar.take(
      new URL('http://evil.corp.test/'),
      `${name}=${value}; Domain=corp.test; Path=/`,
    );
  for (const url of [own, location])
    assert.equal((await victim.visit(authorize(new URL(url)))).status, 403);
});
