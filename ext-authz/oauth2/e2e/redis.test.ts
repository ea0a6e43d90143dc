import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { openRedisStores } from '#ext-authz/store/testing/redis-stores.ts';
import { type RedisServer, startRedis, whyNoRedis } from '#redis/testing/redis-server.ts';
import { authorize, FAR } from '../testing/code-provider.ts';
import { REALM } from '../testing/test-gateway.ts';
import { useWorld } from '../testing/world.ts';

const PAGE = 'https://b.test/page';
const HOUR = 3_600_000;

describe('logins of two replicas on one Redis', { skip: whyNoRedis() ?? false }, () => {
  const world = useWorld();
  let server: RedisServer;
  before(async () => {
    server = await startRedis();
  });
  after(() => server.remove());

  async function open(t: TestContext) {
    const { one, two } = await openRedisStores(`redis://${server.address}`, [server.port]);
    return world.open(t, { origins: ['https://a.test', 'https://b.test'], stores: [one, two] });
  }

  /** Refresh tokens that count once. */
  function rotate(): void {
    let count = 0;
    world.provider().behave('token', async ({ form }) => {
      const token = form.get('refresh_token');
      if (token !== null && token !== `refresh-${count}`)
        return { status: 400, body: { error: 'invalid_grant' } };
      count += 1;
      const id_token = await world
        .provider()
        .idToken({ claims: { nonce: form.get('code') ?? undefined, exp: FAR } });
      const tokens = {
        access_token: `access-${count}`,
        refresh_token: `refresh-${count}`,
        id_token,
      };
      return { body: await world.provider().tokens(tokens) };
    });
  }

  test('200 requests at refresh time make one refresh', async t => {
    const { browser, gateway } = await open(t);
    rotate();
    assert.equal((await browser.follow(PAGE, authorize)).status, 0);
    gateway.advance(HOUR + 1);
    const calls = Array.from({ length: 200 }, (_, index) =>
      browser.visit(PAGE, { replica: index % 2 }),
    );
    const tokens = (await Promise.all(calls)).map(({ change }) => change?.set.get('authorization'));
    assert.deepEqual([...new Set(tokens)], ['Bearer access-2']);
    assert.equal(world.provider().asked('token').length, 2);
  });

  test('a logout on one replica counts on the other at once', async t => {
    const { browser } = await open(t);
    await browser.follow(PAGE, authorize);
    assert.equal((await browser.visit(PAGE, { replica: 1 })).status, 0);
    const stolen = browser.jar.value(PAGE, `__Host-gateway_session.${REALM}`);
    const _xsrf = browser.jar.value(PAGE, `gateway_xsrf.${REALM}`) ?? '';
    await browser.visit('https://b.test/.gateway/oauth2/logout', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ realm: REALM, _xsrf }).toString(),
    });
    const cookie = `__Host-gateway_session.${REALM}=${stolen}`;
    assert.equal((await browser.visit(PAGE, { replica: 1, headers: { cookie } })).status, 303);
  });
});
