import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';

const MAIN = join(import.meta.dirname, '..', 'main.ts');
const ORIGIN = 'http://127.0.0.1:8080';

let state: string;
before(() => {
  state = mkdtempSync(join(tmpdir(), 'identity-provider-'));
});
after(() => rmSync(state, { recursive: true }));

/** Starts the real process on any free port. */
async function start(env: Record<string, string> = {}) {
  const all = {
    PATH: process.env.PATH ?? '',
    ADDRESS: '127.0.0.1:0',
    GATEWAY_ORIGINS: ORIGIN,
    STATE: state,
    ...env,
  };
  const child = fork(MAIN, { env: all, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  const said = Promise.all(
    [child.stdout, child.stderr].map(stream => (stream ? text(stream) : '')),
  );
  const exited = once(child, 'exit').then(([code]) => code);
  const [message] = await Promise.race([once(child, 'message'), exited.then(() => [undefined])]);
  const stop = () => {
    child.kill('SIGTERM');
    return exited;
  };
  return { issuer: `http://127.0.0.1:${message?.port}`, child, exited, said, stop };
}

describe('the identity provider', () => {
  let provider: Awaited<ReturnType<typeof start>>;
  before(async () => {
    provider = await start();
  });
  after(() => provider.stop());

  const ask = (path: string, init?: RequestInit) =>
    fetch(`${provider.issuer}${path}`, { redirect: 'manual', ...init });

  const grant = async (client: string, form: Record<string, string>) => {
    const authorization = `Basic ${btoa(`${client}:${client}-sample-secret`)}`;
    const answer = await ask('/token', {
      method: 'POST',
      headers: { authorization },
      body: new URLSearchParams(form),
    });
    return {
      status: answer.status,
      body: (await answer.json()) as { readonly [name: string]: string },
    };
  };

  /** Returns the claims of a token for the service. */
  const claimsOf = async (token: string) => {
    const keys = createRemoteJWKSet(new URL(`${provider.issuer}/jwks`));
    const expected = {
      issuer: provider.issuer,
      audience: 'urn:gateway:user-service',
      algorithms: ['RS256'],
    };
    return (await jwtVerify(token, keys, expected)).payload;
  };

  test('is healthy', async () => {
    assert.equal((await ask('/healthz')).status, 200);
  });

  test('gives a program a token for itself, with no more than it may have', async () => {
    const form = { grant_type: 'client_credentials', scope: 'users:read' };
    const { body, status } = await grant('nightly-report', form);
    assert.equal(status, 200);
    const { scope, sub } = await claimsOf(body.access_token ?? '');
    assert.deepEqual([sub, scope], ['nightly-report', 'users:read']);
    const more = await grant('nightly-report', { ...form, scope: 'users:admin' });
    assert.deepEqual([more.status, more.body.error], [400, 'invalid_scope']);
  });

  for (const [username, password, scope] of [
    ['ada', 'difference', 'users:read users:admin'],
    ['grace', 'nanosecond', 'users:read'],
  ] as const) {
    test(`gives ${username} a token for a password, with "${scope}" of what is asked for`, async () => {
      const form = { grant_type: 'password', scope: 'users:read users:admin', username, password };
      const { body } = await grant('terminal', form);
      const claims = await claimsOf(body.access_token ?? '');
      assert.deepEqual([claims.sub, claims.scope, body.scope], [username, scope, scope]);
    });
  }

  test('refuses a wrong password', async () => {
    const form = { grant_type: 'password', username: 'ada', password: 'nanosecond' };
    const { body, status } = await grant('terminal', form);
    assert.deepEqual([status, body.error], [400, 'invalid_grant']);
  });

  test('gives no token to a client for a grant of another', async () => {
    const { body, status } = await grant('website', { grant_type: 'client_credentials' });
    assert.deepEqual([status, body.access_token], [400, undefined]);
  });

  /** Returns the path of a login form, and the cookie of the browser that may fill it in. */
  const openForm = async () => {
    const query = new URLSearchParams({
      client_id: 'website',
      response_type: 'code',
      redirect_uri: `${ORIGIN}/.gateway/oauth2/redirection-endpoint`,
      scope: 'openid',
      state: 'here',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    });
    const begun = await ask(`/auth?${query}`);
    const cookies = begun.headers.getSetCookie().map(field => field.split(';')[0]);
    return { path: begun.headers.get('location') ?? '', cookie: cookies.join('; ') };
  };

  test('shows a login form that loads nothing, keeps what was wrong to itself, and sends back a user who cancels', async () => {
    const { cookie, path } = await openForm();
    const form = await ask(path, { headers: { cookie } });
    assert.match(form.headers.get('content-security-policy') ?? '', /^default-src 'none'/);
    assert.match(await form.text(), /The website behind the gateway asks who you are/);
    const post = (body: Record<string, string>) =>
      ask(path, { method: 'POST', headers: { cookie }, body: new URLSearchParams(body) });
    const wrong = await post({ username: 'ada', password: '<b>' });
    assert.match(await wrong.text(), /role="alert">Wrong name or password\./);
    const cancelled = await post({ cancel: 'yes' });
    const back = await ask(new URL(cancelled.headers.get('location') ?? '').pathname, {
      headers: { cookie },
    });
    const { origin, searchParams } = new URL(back.headers.get('location') ?? '');
    assert.deepEqual(
      [origin, searchParams.get('error'), searchParams.get('state')],
      [ORIGIN, 'access_denied', 'here'],
    );
  });

  for (const path of [
    '/auth?client_id=%3Cscript%3E',
    '/interaction/unknown',
    '/session/end?id_token_hint=x',
  ]) {
    test(`${path} is a page of ours, without scripts and without anything of the query`, async () => {
      const answer = await ask(path, { headers: { accept: 'text/html' } });
      const body = await answer.text();
      assert.equal(answer.status, 400);
      assert.match(answer.headers.get('content-security-policy') ?? '', /^default-src 'none'/);
      assert.doesNotMatch(body, /script|https?:\/\//);
    });
  }

  for (const [what, body] of [
    ['too large', 'a'.repeat(8_193)],
    ['without end', new Blob(['a'.repeat(1e6)]).stream()],
  ] as const) {
    test(`does not read a form ${what}`, async () => {
      const { cookie, path } = await openForm();
      const answer = await ask(path, { method: 'POST', headers: { cookie }, body, duplex: 'half' });
      assert.equal(answer.status, 413);
    });
  }

  test('lets no browser fill in the form of another', async () => {
    const { path } = await openForm();
    const body = new URLSearchParams({ username: 'ada', password: 'difference' });
    assert.equal((await ask(path, { method: 'POST', body })).status, 400);
  });
});

test('a restarted provider signs with the same key', async () => {
  const keys = async () => {
    const provider = await start();
    const answer = (await (await fetch(`${provider.issuer}/jwks`)).json()) as {
      keys: readonly object[];
    };
    assert.equal(await provider.stop(), 0);
    return answer;
  };
  const first = await keys();
  assert.ok(!('d' in (first.keys[0] ?? {})));
  assert.deepEqual(await keys(), first);
});

test('a provider whose supervisor is gone ends', async () => {
  const provider = await start();
  provider.child.disconnect();
  assert.equal(await provider.exited, 0);
});

test('a bad variable is one line that names it', async () => {
  const provider = await start({ ADDRESS: '0.0.0.0:0' });
  assert.equal(await provider.exited, 1);
  assert.match(
    (await provider.said).join(''),
    /^identity-provider: ADDRESS is "0\.0\.0\.0:0", [^\n]*\n$/,
  );
});
