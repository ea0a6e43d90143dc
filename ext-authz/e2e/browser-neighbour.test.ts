import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { selfSigned } from '#certificates/testing/openssl.ts';
import { startEchoServer } from '#controlplane/compile/e2e/echo-server.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { openStoreKey } from '#ext-authz/store/store-key.ts';
import type { JsonObject } from '#protos/json.ts';
import { logIn as logInAtProvider } from '../testing/log-in.ts';
import { webClient } from '../testing/oidc-clients.ts';
import { type OidcProvider, startOidcProvider } from '../testing/oidc-provider.ts';
import { fillIn, newPage, startBrowser, whyNoBrowser } from './browser.ts';
import { cookiesOf } from './edge-session.ts';
import { type GuardedEnvoy, startGuarded } from './guarded-envoy.ts';
import { openKit } from './open-kit.ts';
import { openStore } from './open-store.ts';

const ORIGIN = 'https://corp.test';
const NEIGHBOUR = 'https://evil.corp.test';
const CALLBACK = `${ORIGIN}/.gateway/oauth2/redirection-endpoint`;
const SECRET = 's'.repeat(40);
const ADA = { username: 'ada', password: 'of ada' };
const MALLORY = { username: 'mallory', password: 'of mallory' };

describe('over https, beside a neighbour of the same domain', { skip: whyNoBrowser() }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'ext-authz-'));
  const tls = selfSigned({ after }, '-subj', '/CN=corp.test');
  let upstream: Awaited<ReturnType<typeof startEchoServer>>;
  let provider: OidcProvider;
  let store: RecordStore;
  let envoy: GuardedEnvoy;
  let browser: Browser;

  before(async () => {
    upstream = await startEchoServer('up');
    provider = await startOidcProvider({
      clients: [webClient({ client_id: 'web', client_secret: SECRET }, [CALLBACK])],
      users: [ADA, MALLORY],
      jwtClients: [],
    });
    store = await openStore(folder);
    const kit = openKit(store, openStoreKey(folder, randomBytes));
    envoy = await startGuarded(resources(), kit, undefined, bootstrap => withTls(bootstrap, tls));
    const rules = [ORIGIN, NEIGHBOUR].map(
      url => `MAP ${new URL(url).host} 127.0.0.1:${envoy.port}`,
    );
    browser = await startBrowser([`--host-resolver-rules=${rules.join(', ')}`]);
  });
  after(async () => {
    await browser?.close();
    await envoy?.stop();
    await store?.close();
    await provider?.close();
    await upstream?.close();
    rmSync(folder, { recursive: true });
  });

  function resources(): string {
    const login = (path: string, args = '') =>
      `{host: corp.test, path: '/${path}*', filters: [{name: login, arguments: {${args}}}]}`;
    return `
apiVersion: gateway.internal/v2
kind: Filter
metadata: {name: login}
spec:
  OAuth2: {authorizationURL: '${provider.issuer}', clientID: web, secret: ${SECRET}, protectedOrigins: [{origin: '${ORIGIN}'}],
    injectRequestHeaders: [{name: X-User, value: '{{ .idToken.Claims.sub }}'}]}
---
apiVersion: gateway.internal/v2
kind: FilterPolicy
metadata: {name: site}
spec: {rules: [${[login('lax', 'sameSite: lax'), login('strict', 'sameSite: strict'), login('page')].join(', ')}]}
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: all}
spec: {prefix: /, rewrite: '', service: '${upstream.address}'}
`;
  }

  const open = async (t: TestContext, options: BrowserContextOptions = {}): Promise<Page> => {
    const page = await newPage(t, browser, { ignoreHTTPSErrors: true, ...options });
    page.setDefaultTimeout(20_000);
    return page;
  };

  const logIn = async (page: Page, url: string) => {
    await page.goto(url);
    await fillIn(page, ADA.username, ADA.password);
  };

  /** Returns who the upstream thinks the user is. */
  const userAt = async (page: Page, url: string): Promise<unknown> => {
    await page.goto(url);
    const { headers } = JSON.parse(await page.locator('body').innerText());
    return headers['x-user'];
  };

  /** The attacker's own program asks the edge. */
  const ask = async (url: string, cookie = ''): Promise<IncomingMessage> => {
    const { host, pathname, search } = new URL(url);
    const where = { host: '127.0.0.1', port: envoy.port, path: pathname + search, agent: false };
    const asked = request({ ...where, rejectUnauthorized: false, headers: { host, cookie } }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    return answer;
  };

  /** Logs the attacker in up to the callback, which is kept for the victim. */
  const halfWay = async (url: string): Promise<{ callback: string; cookies: string }> => {
    const { headers } = await ask(url);
    const { href } = await logInAtProvider(headers.location ?? '', MALLORY, CALLBACK);
    return { callback: href, cookies: cookiesOf(headers) };
  };

  /** Lets a page of the neighbour set the attacker's cookies for the whole domain. */
  const plant = async (cookies: string, victim: Page): Promise<void> => {
    await victim.goto(`${NEIGHBOUR}/`);
    for (const cookie of cookies.split('; '))
      for (const planted of [cookie, cookie.replace('__Host-', ''), `__Host-${cookie}`])
        await victim.evaluate(`document.cookie = "${planted}; Domain=corp.test; Path=/; Secure"`);
  };

  for (const sameSite of ['lax', 'strict']) {
    test(`a login that the neighbour plants does not replace a session, SameSite ${sameSite}`, async t => {
      const victim = await open(t);
      const page = `${ORIGIN}/${sameSite}`;
      const { callback, cookies } = await halfWay(page);
      await logIn(victim, page);
      await victim.waitForURL(page);
      await plant(cookies, victim);
      await victim.goto(callback);
      assert.equal(await userAt(victim, page), 'ada');
    });
  }

  test('a page that the browser fetches ahead begins no login, and the user logs in there', async t => {
    const page = await open(t);
    const link = `${ORIGIN}/page?ahead`;
    await page.goto(`${ORIGIN}/`);
    const ahead = page.context().waitForEvent('response', answer => answer.url() === link);
    await page.evaluate(`
      const rules = { prefetch: [{ source: 'list', urls: ['${link}'] }] };
      const script = document.createElement('script');
      Object.assign(script, { type: 'speculationrules', textContent: JSON.stringify(rules) });
      document.head.append(script);
    `);
    assert.equal((await ahead).status(), 401);
    assert.deepEqual(await page.context().cookies(ORIGIN), []);
    await page.evaluate(`location.href = '${link}'`);
    await fillIn(page, ADA.username, ADA.password);
    await page.waitForURL(link);
  });

  test('a session that the neighbour plants logs no user in', async t => {
    const victim = await open(t);
    const { callback, cookies } = await halfWay(`${ORIGIN}/page`);
    await plant(cookiesOf((await ask(callback, cookies)).headers), victim);
    await victim.goto(`${ORIGIN}/page`);
    await victim.waitForURL(url => url.href.startsWith(`${provider.issuer}/interaction/`));
  });

  const LINK = `?q=${randomBytes(5_900).toString('base64url')}`;
  /** Spelt as a person writes it. Browsers keep it as `URL` does. */
  const FRAGMENTS = [
    'part',
    '/users?id=1&x=%2F#more',
    '"><script>document.title="run"</script>',
    '%0d%0aset-cookie:%20a=b',
    'a\r\nb',
    "'; alert(1) //",
    '\u0142\u00f3d\u017a; \u{1f600}, \\',
    '%E0%A4%A',
  ];

  for (const sameSite of ['page', 'strict']) {
    for (const fragment of FRAGMENTS) {
      test(`a link of 8,000 characters with ${JSON.stringify(fragment)} survives a login at /${sameSite}`, async t => {
        const page = await open(t);
        const link = new URL(`${ORIGIN}/${sameSite}${LINK}#${fragment}`).href;
        await page.goto(link);
        await page.getByLabel('Name').waitFor();
        assert.equal(new URL(page.url()).hash, '', 'the provider does not see the fragment');
        await fillIn(page, ADA.username, ADA.password);
        await page.waitForURL(url => url.href.startsWith(`${ORIGIN}/${sameSite}`));
        assert.equal(page.url(), link);
        assert.equal(await page.title(), '');
        const left = (await page.context().cookies(ORIGIN)).map(({ name }) => name);
        assert.ok(!left.some(name => name.includes('gateway_pending')), left.join(' '));
      });
    }

    for (const fragment of ['', 'x'.repeat(100_000)]) {
      test(`a fragment of ${fragment.length} characters is left out of a login at /${sameSite}`, async t => {
        const page = await open(t);
        await logIn(page, `${ORIGIN}/${sameSite}?x=1#${fragment}`);
        await page.waitForURL(url => url.href.startsWith(`${ORIGIN}/${sameSite}`));
        assert.equal(page.url(), `${ORIGIN}/${sameSite}?x=1`);
      });
    }
  }

  test('the fragment survives a login for which the provider asks no user', async t => {
    const page = await open(t);
    await logIn(page, `${ORIGIN}/page`);
    await page.waitForURL(`${ORIGIN}/page`);
    await page.context().clearCookies({ name: /gateway_/ });
    await page.goto(`${ORIGIN}/page?x=1#part`);
    await page.waitForURL(`${ORIGIN}/page?x=1#part`);
  });

  test('the button Back leaves a login as after a redirect', async t => {
    const page = await open(t);
    await page.goto(`${NEIGHBOUR}/`);
    await page.goto(`${ORIGIN}/page#part`);
    await page.getByLabel('Name').waitFor();
    await page.goBack();
    assert.equal(page.url(), `${NEIGHBOUR}/`);
  });

  test('without scripts a browser is sent to its login too', async t => {
    const page = await open(t, { javaScriptEnabled: false });
    await page.goto(`${ORIGIN}/page?x=1#part`);
    await fillIn(page, ADA.username, ADA.password);
    await page.waitForURL(url => url.href.startsWith(`${ORIGIN}/page?x=1`));
  });
});

/** The listener asks for no client certificate, and has this one of its own. */
function withTls(
  bootstrap: JsonObject,
  { certificate, key }: { certificate: string; key: string },
): JsonObject {
  const tls = {
    name: 'envoy.transport_sockets.tls',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext',
      common_tls_context: {
        tls_certificates: [
          {
            certificate_chain: { inline_string: certificate },
            private_key: { inline_string: key },
          },
        ],
      },
    },
  };
  const changed = structuredClone(bootstrap) as {
    static_resources: { listeners: { filter_chains: object[] }[] };
  } & JsonObject;
  for (const { filter_chains } of changed.static_resources.listeners)
    for (const chain of filter_chains) Object.assign(chain, { transport_socket: tls });
  return changed;
}
