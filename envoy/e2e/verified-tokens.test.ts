import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { pick, seededRandom } from '#protos/testing/random.ts';
import { goodClaims, oddTokens, randomClaims, signer } from './odd-tokens.ts';
import { type Fields, startTokenSite, type TokenSite } from './token-site.ts';

describe('tokens that proxies verify', () => {
  let site: TokenSite;
  let token: string;
  before(async () => {
    site = await startTokenSite();
    const { kid, privateKey } = site.provider.key;
    token = await signer(privateKey)({ alg: 'RS256', kid }, goodClaims(seconds()));
    await site.untilVerified(token);
  });
  after(() => site?.stop());

  const seconds = () => Math.floor(Date.now() / 1_000);
  /** Asks both ways. Returns whether ext-authz was asked on the first. */
  const compare = async (fields: Fields, why: string, path?: string) => {
    const before = await site.checks();
    const proxied = await site.ask('proxied', fields, path);
    const asked = (await site.checks()) !== before;
    assert.deepEqual(proxied, await site.ask('service', fields, path), why);
    return { asked, status: proxied.status };
  };
  const bearer = () => ({ authorization: `Bearer ${token}` });

  test('reach the service without a call, byte for byte as with one', async () => {
    const fields = {
      ...bearer(),
      cookie: 'theme=dark',
      'x-a': ['1', '2'],
      'x-sub': 'eve',
      'x-kind': 'eve',
    };
    assert.deepEqual(await compare(fields, ''), { asked: false, status: 200 });
  });

  test('are answered as ext-authz answers them, however odd they are', async () => {
    const seen = { asked: 0, passed: 0 };
    for (const [why, authorization] of await oddTokens(site, seconds())) {
      const fields = authorization === undefined ? {} : { authorization: [authorization].flat() };
      const { asked, status } = await compare(fields, why);
      if (status !== 200) assert.ok(asked, `${why}: the answer is not that of ext-authz`);
      seen[asked ? 'asked' : 'passed'] += 1;
    }
    assert.ok(seen.asked > 50 && seen.passed > 10, JSON.stringify(seen));
  });

  test('are answered alike with random claims', async () => {
    const random = seededRandom(7);
    const { kid, privateKey } = site.provider.key;
    const seen = { asked: 0, passed: 0 };
    for (let round = 0; round < 250; round++) {
      const claims = randomClaims(random, seconds());
      const header = pick([{ kid }, { kid }, { kid }, {}, { kid: 'x' }], random);
      const random_token = await signer(privateKey)({ alg: 'RS256', ...header }, claims);
      const fields = { authorization: `Bearer ${random_token}` };
      const { asked } = await compare(fields, JSON.stringify({ header, claims }));
      seen[asked ? 'asked' : 'passed'] += 1;
    }
    assert.ok(seen.asked > 50 && seen.passed > 20, JSON.stringify(seen));
  });

  for (const [what, fields, path] of [
    ['a cookie of the gateway', { cookie: 'a=1; gateway_session.login.default=x' }, 'x'],
    ['a credential header', { 'x-gateway-username': 'eve' }, 'x'],
    ['a path in two readings', {}, 'a;b/c'],
    ['an escaped path', {}, '%20'],
    ["the gateway's own headers", { 'x-gateway-token-verified': 'true' }, 'a;b'],
  ] as const)
    test(`go to ext-authz with ${what}`, async () => {
      const { asked } = await compare({ ...bearer(), ...fields }, what, path);
      assert.ok(asked);
    });

  test('are not taken from other places, and headers of the gateway forge nothing', async () => {
    const forged = { 'x-gateway-token-verified': 'true', 'x-gateway-token-provider': 'x' };
    for (const [fields, path] of [
      [{}, `x?access_token=${token}`],
      [{ cookie: `access_token=${token}` }, 'x'],
      [{ 'x-authorization': `Bearer ${token}` }, 'x'],
      [{ authorization: 'Bearer x', ...forged }, 'x'],
      [forged, 'x'],
    ] as const)
      assert.deepEqual(await compare(fields, path, path), { asked: true, status: 401 });
  });

  test('go to ext-authz where headers would grow beyond what Envoy takes', async () => {
    const many = Object.fromEntries(Array.from({ length: 85 }, (_, n) => [`x-${n}`, 'a']));
    for (const fields of [many, { 'x-long': 'x'.repeat(50_000) }])
      assert.ok((await compare({ ...bearer(), ...fields }, 'large')).asked);
  });

  test('pass without a call with any usual path and query', async () => {
    for (const path of ['', 'a/b.c', 'a?b=c&d=%20;x', "~a!$&'()+,-=:@_"])
      assert.deepEqual(await compare(bearer(), path, path), { asked: false, status: 200 });
  });
});
