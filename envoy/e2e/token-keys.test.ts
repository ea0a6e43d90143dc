import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { makeSigningKey, type SigningKey } from '#ext-authz/testing/hostile-provider.ts';
import { machineClient } from '#ext-authz/testing/oidc-clients.ts';
import {
  type OidcProvider,
  RESOURCE,
  startOidcProvider,
} from '#ext-authz/testing/oidc-provider.ts';
import { goodClaims, signer } from './odd-tokens.ts';
import { startTokenSite, type TokenSite } from './token-site.ts';
import { until } from './until.ts';

const seconds = () => Math.floor(Date.now() / 1_000);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('the keys of tokens that proxies verify', () => {
  let site: TokenSite;
  let second: SigningKey;
  before(async () => {
    [site, second] = await Promise.all([startTokenSite(), makeSigningKey('second')]);
  });
  after(() => site?.stop());

  const tokenOf = ({ kid, privateKey }: SigningKey) =>
    signer(privateKey)({ alg: 'RS256', kid }, goodClaims(seconds()));
  const publish = (...keys: readonly SigningKey[]) =>
    site.provider.behave('jwks', () => ({
      headers: { 'cache-control': 'no-store' },
      body: { keys: keys.map(({ publicJwk }) => publicJwk) },
    }));
  const status = async (token: string) => (await site.ask('proxied', bearer(token))).status;

  test('change without a lost request, and one that is withdrawn counts no more', async () => {
    const { key } = site.provider;
    const [old, young] = [await tokenOf(key), await tokenOf(second)];
    publish(key);
    await site.untilVerified(old);
    const lost: number[] = [];
    let loading: string | undefined = old;
    const load = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (loading !== undefined) {
          const found = await status(loading);
          if (found !== 200) lost.push(found);
        }
      }),
    );
    publish(key, second);
    loading = young;
    await site.untilVerified(young);
    publish(second);
    await until(async () => ((await status(old)) === 401 ? true : undefined), 30_000);
    loading = undefined;
    await load;
    assert.deepEqual(lost, []);
  });

  test('that a proxy rejects keep no withdrawn key in force, and a Problem names the Filter', async () => {
    const { key } = site.provider;
    const token = await tokenOf(key);
    publish(key);
    await site.untilVerified(token);
    publish({ ...second, publicJwk: { ...second.publicJwk, kid: '\ud800' } });
    await until(async () => ((await status(token)) === 401 ? true : undefined), 30_000);
    const { problems } = await site.system.statusWhen(found => found.problems.length > 0);
    const [{ severity, kind, field, file, message = '' } = {}, ...others] = problems;
    assert.deepEqual(others, []);
    assert.deepEqual([severity, kind, field], ['warning', 'Filter', 'spec.JWT.jwksURI']);
    assert.match(file ?? '', /tokens\.yaml$/);
    assert.match(
      message,
      /^the proxies cannot read the keys of its provider, so ext-authz verifies its tokens: invalid local jwks: Jwks is an invalid JSON/,
    );
    publish(key);
    await site.untilVerified(token);
    await site.system.statusWhen(found => found.problems.length === 0);
  });

  test('end when the control plane is away, and ext-authz is asked again', async () => {
    const { key } = site.provider;
    const token = await tokenOf(key);
    publish(key);
    await site.untilVerified(token);
    await site.system.whileAway('controlplane', async () => {
      const before = await site.checks();
      await until(async () => {
        assert.equal(await status(token), 200);
        return (await site.checks()) > before ? true : undefined;
      }, 30_000);
    });
    await site.untilVerified(token);
  });

  test('end when ext-authz is away, and then nothing passes', async () => {
    const token = await tokenOf(site.provider.key);
    await site.untilVerified(token);
    await site.system.whileAway('ext-authz', () =>
      until(async () => ((await status(token)) === 503 ? true : undefined), 30_000),
    );
    await until(async () => ((await status(token)) === 200 ? true : undefined), 30_000);
  });
});

test('a provider that starts with other keys ends tokens of the old ones', async t => {
  const keyOf = async (kid: string): Promise<JWK> => {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    return { ...(await exportJWK(privateKey)), kid, use: 'sig', alg: 'RS256' };
  };
  const CLIENT = { client_id: 'machine', client_secret: 'secret' };
  const start = async (kid: string, port?: number): Promise<OidcProvider> =>
    startOidcProvider({
      clients: [machineClient(CLIENT)],
      users: [],
      jwtClients: [CLIENT.client_id],
      scopes: ['read'],
      signingKeys: [await keyOf(kid)],
      ...(port === undefined ? {} : { port }),
    });
  const tokenFrom = async ({ issuer }: OidcProvider) => {
    const answer = await fetch(`${issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa('machine:secret')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'read' }),
    });
    return String(((await answer.json()) as { access_token?: unknown }).access_token);
  };
  let provider = await start('old');
  const site = await startTokenSite({
    jwksURI: `${provider.issuer}/jwks`,
    issuer: provider.issuer,
    audience: RESOURCE,
  });
  t.after(async () => {
    await site.stop();
    await provider.close();
  });
  const status = async (token: string) => (await site.ask('proxied', bearer(token))).status;
  const old = await tokenFrom(provider);
  await site.untilVerified(old);
  await provider.close();
  provider = await start('young', Number(new URL(provider.issuer).port));
  const young = await tokenFrom(provider);
  assert.equal(await status(young), 200);
  const rotated = performance.now();
  await until(async () => ((await status(old)) === 401 ? true : undefined), 30_000);
  t.diagnostic(`the old key counted for ${Math.round(performance.now() - rotated)} ms more`);
  await site.untilVerified(young);
});
