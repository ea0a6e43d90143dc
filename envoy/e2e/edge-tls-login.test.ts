import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { logIn } from '#ext-authz/testing/log-in.ts';
import { askHttps, type HttpsAnswer } from './https-request.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';

const RESOURCES = (origin: string, provider: string) => `
apiVersion: gateway.internal/v2
kind: Filter
metadata: { name: secure }
spec:
  OAuth2:
    authorizationURL: ${provider}
    clientID: website
    secretName: login
    protectedOrigins: [{ origin: "${origin}" }]
---
apiVersion: gateway.internal/v2
kind: FilterPolicy
metadata: { name: secure }
spec: { rules: [{ path: /secure*, filters: [{ name: secure }] }] }
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: secure }
spec: { prefix: /secure, rewrite: /user/health, service: user-service, resolver: sds }
`;

describe('a login at an origin of https', () => {
  let system: System;
  let origin: string;
  before(async () => {
    system = await startSystem({ demo: true });
    origin = `https://localhost:${system.ports.edgeTls}`;
    system.write(
      'secure.yaml',
      RESOURCES(origin, `http://127.0.0.1:${system.ports.identityProvider}`),
    );
    // The edge is ready when it has one of its listeners.
    const statusNow = () =>
      ask('/secure').then(
        ({ status }) => status,
        () => 0,
      );
    await until(async () => (await statusNow()) === 303 || undefined);
  });
  after(() => system.stop());

  const ask = (path: string, cookies: readonly string[] = []) =>
    askHttps(
      {
        port: system.ports.edgeTls,
        sni: 'localhost',
        ca: readFileSync(join(system.state, 'authority', 'roots.pem'), 'utf8'),
      },
      path,
      { host: new URL(origin).host, accept: 'text/html', cookie: cookies.join('; ') },
    );

  test('goes to the provider and back, and ends where it began', async () => {
    const first = await ask('/secure');
    const provider = new URL(first.headers.location ?? '');
    const callback = `${origin}/.gateway/oauth2/redirection-endpoint`;
    assert.equal(provider.searchParams.get('redirect_uri'), callback);
    const back = await logIn(provider.href, { username: 'ada', password: 'difference' }, callback);
    const second = await ask(back.pathname + back.search, cookiesOf(first));
    assert.deepEqual([second.status, second.headers.location], [303, `${origin}/secure`]);
    for (const cookie of second.headers['set-cookie'] ?? []) assert.match(cookie, /; Secure/i);
    assert.equal((await ask('/secure', cookiesOf(second))).status, 200);
  });
});

function cookiesOf({ headers }: HttpsAnswer): readonly string[] {
  return (headers['set-cookie'] ?? []).map(cookie => cookie.split(';', 1)[0] ?? '');
}
