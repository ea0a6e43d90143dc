import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { SecretValue } from '#resources/secret-value.ts';
import { logIn } from '../testing/log-in.ts';
import { webClient } from '../testing/oidc-clients.ts';
import { type OidcProvider, startOidcProvider } from '../testing/oidc-provider.ts';
import { openProvider } from './open-provider.ts';

const CALLBACK = 'http://app.test/.gateway/oauth2/redirection-endpoint';
const ALICE = { username: 'alice', password: 'wonder land', claims: { email: 'alice@example.com' } };
let real: OidcProvider;
before(async () => {
  real = await startOidcProvider({
    clients: [webClient({ client_id: 'web', client_secret: 's'.repeat(40) }, [CALLBACK])],
    users: [ALICE],
  });
});
after(() => real.close());
test('x', async () => {
  const provider = openProvider(
    {
      authorizationURL: real.issuer,
      maxStale: 0,
      insecureTLS: false,
      renegotiateTLS: 'never',
      clientID: 'web',
      secret: new SecretValue(Buffer.from('s'.repeat(40))),
      clientAuthentication: { method: 'HeaderPassword' },
    },
    { now: Date.now, id: randomUUID },
  );
  const signal = AbortSignal.timeout(4000);
  const codeVerifier = randomBytes(32).toString('base64url');
  const url = await provider.authorizationUrl(
    { redirectUri: CALLBACK, scope: ['openid', 'email'], state: 's1', nonce: 'n1', codeVerifier, extra: {} },
    signal,
  );
  const cb = await logIn(url, ALICE, CALLBACK);
  console.log(url, cb.href);
  const t = await provider.exchangeCode(
    {
      code: cb.searchParams.get('code') ?? '',
      iss: cb.searchParams.get('iss') ?? undefined,
      redirectUri: CALLBACK,
      codeVerifier,
      nonce: 'n1',
    },
    signal,
  );
  console.log(t);
  console.log(await provider.userinfo({ accessToken: t.accessToken, subject: 'alice' }, signal));
  console.log(
    await provider.refresh({ refreshToken: t.refreshToken ?? '', previous: t.idToken.claims }, signal),
  );
  console.log(await provider.endSessionUrl({ idTokenHint: 'x', postLogoutRedirectURI: 'http://a/' }, signal));
  assert.ok(t);
  await provider.close();
});
