import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import { listenLocally } from '#envoy/e2e/local-server.ts';
import { until } from '#envoy/e2e/until.ts';
import { type HostileProvider, startHostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import {
  EXCHANGE,
  openTestProvider,
  providerError,
} from '#ext-authz/testing/open-test-provider.ts';
import { soon } from '#ext-authz/testing/soon.ts';

let hostile: HostileProvider;
before(async () => {
  hostile = await startHostileProvider();
});
after(() => hostile.close());
beforeEach(() => hostile.reset());

const asked = () => hostile.asked('discovery').length;
const control = (value: string) =>
  hostile.behave('discovery', () => ({
    headers: { 'cache-control': value },
    body: hostile.discovery(),
  }));

test('100 calls that need the document at once share one request', async t => {
  const provider = openTestProvider(t, hostile);
  const all = await Promise.all(Array.from({ length: 100 }, () => provider.metadata(soon())));
  assert.equal(asked(), 1);
  assert.equal(all.at(-1)?.issuer, hostile.issuer);
});

test('the document is used as long as its max-age says', async t => {
  control('max-age=60');
  const provider = openTestProvider(t, hostile);
  await provider.metadata(soon());
  provider.advance(59_999);
  await provider.metadata(soon());
  assert.equal(asked(), 1);
  provider.advance(1);
  await provider.metadata(soon());
  assert.equal(asked(), 2);
});

test('with no-store and maxStale 0 it is used for 10 s', async t => {
  control('no-store');
  const provider = openTestProvider(t, hostile);
  await provider.metadata(soon());
  provider.advance(9_999);
  await provider.metadata(soon());
  assert.equal(asked(), 1);
  assert.equal(hostile.asked('discovery')[0]?.headers['cache-control'], undefined);
  provider.advance(1);
  await provider.metadata(soon());
  assert.equal(asked(), 2);
});

test('maxStale is sent as max-stale, and no-store does not count', async t => {
  control('no-store');
  const provider = openTestProvider(t, hostile, { maxStale: 90_500 });
  await provider.metadata(soon());
  assert.equal(hostile.asked('discovery')[0]?.headers['cache-control'], 'max-stale=91');
  provider.advance(300_000 + 90_499);
  await provider.metadata(soon());
  assert.equal(asked(), 1);
});

test('a mere look keeps no call from asking', async t => {
  hostile.behave('discovery', () => ({ status: 500 }));
  const provider = openTestProvider(t, hostile);
  const look = () => provider.look([], soon());
  await assert.rejects(look(), providerError('http_status'));
  await assert.rejects(look(), providerError('http_status'));
  hostile.behave('discovery', () => ({ body: hostile.discovery() }));
  await provider.metadata(soon());
  assert.equal(asked(), 3);
  await look();
  assert.equal(asked(), 3, 'nor is it asked for what is known');
});

test('a mere look waits as others do once a call was refused', async t => {
  hostile.behave('discovery', () => ({ status: 500 }));
  const provider = openTestProvider(t, hostile);
  await assert.rejects(provider.metadata(soon()), providerError('http_status'));
  await assert.rejects(provider.look([], soon()), providerError('http_status'));
  assert.equal(asked(), 1);
});

test('a failed discovery is asked again after 1 s, however often it fails, and in between the same error comes at once', async t => {
  hostile.behave('discovery', () => ({ status: 500 }));
  const provider = openTestProvider(t, hostile);
  const fail = () => assert.rejects(provider.metadata(soon()), providerError('http_status', '500'));
  await fail();
  for (const times of [1, 2, 3, 4, 5, 6, 7]) {
    provider.advance(999);
    await fail();
    assert.equal(asked(), times, 'before a second is over');
    provider.advance(1);
    await fail();
    assert.equal(asked(), times + 1, 'after a second');
  }
  hostile.reset();
  provider.advance(1_000);
  assert.equal((await provider.metadata(soon())).issuer, hostile.issuer);
});

/** A provider that was up for five minutes and is down now. */
async function openBeforeOutage(t: TestContext) {
  const provider = openTestProvider(t, hostile);
  await provider.metadata(soon());
  provider.advance(300_000);
  hostile.behave('discovery', () => 'hang up');
  return provider;
}

test('through an outage the last good document serves, and a new one is asked for once a second', async t => {
  const provider = await openBeforeOutage(t);
  const serve = async () => assert.equal((await provider.metadata(soon())).issuer, hostile.issuer);
  for (let times = 1; times < 40; times += 1) {
    await Promise.all(Array.from({ length: 10 }, serve));
    await provider.look([], soon()).catch(() => {});
    assert.equal(asked(), times + 1);
    provider.advance(1_000);
  }
});

test('the first second after an outage brings the new document', async t => {
  const provider = await openBeforeOutage(t);
  await provider.metadata(soon());
  hostile.behave('discovery', () => ({
    body: { ...hostile.discovery(), token_endpoint: `${hostile.issuer}/new` },
  }));
  provider.advance(1_000);
  await provider.metadata(soon());
  await provider.look([], soon());
  assert.equal((await provider.metadata(soon())).token_endpoint, `${hostile.issuer}/new`);
  assert.equal(asked(), 3);
});

test('a provider that hangs delays no call for longer than a second', async t => {
  const provider = openTestProvider(t, hostile);
  await provider.metadata(soon());
  provider.advance(300_000);
  hostile.behave('discovery', () => 'hang');
  const patience = AbortSignal.timeout(3_000);
  assert.equal((await provider.metadata(patience)).issuer, hostile.issuer);
  assert.equal(patience.aborted, false);
});

for (const [title, answer] of [
  ['is that of another issuer', { body: { issuer: 'https://evil.test' } }],
  ['is a page for maintenance', { headers: { 'content-type': 'text/html' }, body: '<p>' }],
  ['is refused with 503', { status: 503, headers: { 'retry-after': '30' } }],
] as const) {
  test(`the last good document serves while the new one ${title}`, async t => {
    const provider = await openBeforeOutage(t);
    hostile.behave('discovery', () => answer);
    const { issuer, token_endpoint } = await provider.metadata(soon());
    assert.deepEqual([issuer, token_endpoint], [hostile.issuer, `${hostile.issuer}/token`]);
  });
}

test('keys do not outlive their time in an outage: a withdrawn key must end', async t => {
  const provider = openTestProvider(t, hostile);
  await provider.keySet(soon());
  provider.advance(300_000);
  hostile.behave('jwks', () => 'hang up');
  await assert.rejects(provider.keySet(soon()), providerError('unreachable'));
  hostile.reset();
  provider.advance(1_000);
  await provider.keySet(soon());
});

test('a call whose time is up goes, and the request goes on for the others', async t => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  hostile.behave('discovery', async () => {
    arrive();
    await answered;
    return { body: hostile.discovery() };
  });
  const provider = openTestProvider(t, hostile);
  const impatient = new AbortController();
  const [first, second] = [provider.metadata(impatient.signal), provider.metadata(soon())];
  await arrived;
  impatient.abort();
  await assert.rejects(first, providerError('timeout', 'the discovery document'));
  answer();
  assert.equal((await second).issuer, hostile.issuer);
  assert.equal(asked(), 1);
});

test('time that was over before is a timeout', async t => {
  await assert.rejects(
    openTestProvider(t, hostile).metadata(AbortSignal.abort()),
    providerError('timeout'),
  );
});

test('the issuer of another provider is refused: the error names both', async t => {
  hostile.behave('discovery', () => ({
    body: { ...hostile.discovery(), issuer: 'https://evil.test' },
  }));
  const outcome = openTestProvider(t, hostile).metadata(soon());
  await assert.rejects(outcome, providerError('issuer_mismatch', /127\.0\.0\.1.*evil\.test/));
});

test('authorizationURL may have a trailing slash that the issuer has not', async t => {
  const provider = openTestProvider(t, hostile, { authorizationURL: `${hostile.issuer}/` });
  assert.equal((await provider.metadata(soon())).issuer, hostile.issuer);
});

for (const status of [301, 302, 307, 308]) {
  test(`a redirect (${status}) is not followed, and the error says where it leads`, async t => {
    hostile.behave('discovery', () => ({
      status,
      headers: { location: 'https://other.test/x?secret=1' },
    }));
    const outcome = openTestProvider(t, hostile).metadata(soon());
    await assert.rejects(
      outcome,
      providerError('http_status', /a redirect to https:\/\/other\.test, /),
    );
  });
}

for (const [title, answer, code] of [
  ['HTML', { headers: { 'content-type': 'text/html' }, body: '<p>' }, 'invalid_answer'],
  ['no JSON', { body: 'issuer' }, 'invalid_answer'],
  ['over 1 MiB', { body: ' '.repeat(2 ** 20 + 1) }, 'too_large'],
  ['404', { status: 404 }, 'http_status'],
  ['204', { status: 204 }, 'http_status'],
] as const) {
  test(`a discovery document that is ${title} is refused`, async t => {
    hostile.behave('discovery', () => answer);
    await assert.rejects(openTestProvider(t, hostile).metadata(soon()), providerError(code));
  });
}

test('Retry-After of a refused discovery document is waited for', async t => {
  hostile.behave('discovery', () => ({ status: 429, headers: { 'retry-after': '20' } }));
  const provider = openTestProvider(t, hostile);
  await assert.rejects(provider.metadata(soon()), providerError('http_status', '429'));
  hostile.behave('discovery', () => ({ body: hostile.discovery() }));
  provider.advance(19_000);
  await assert.rejects(provider.metadata(soon()), providerError('http_status', '429'));
  provider.advance(1_001);
  assert.equal((await provider.metadata(soon())).issuer, hostile.issuer);
});

for (const [what, gone] of [
  ['is gone', () => ({ status: 404 })],
  ['redirects', () => ({ status: 307, headers: { location: '/new' } })],
] as const)
  test(`a token endpoint that ${what} may be elsewhere: the discovery document is asked for again`, async t => {
    const kept = { 'cache-control': 'max-age=86400' };
    const old = `${hostile.issuer}/userinfo`;
    hostile.behave('discovery', () => ({
      headers: kept,
      body: { ...hostile.discovery(), token_endpoint: old },
    }));
    hostile.behave('userinfo', gone);
    const provider = openTestProvider(t, hostile);
    hostile.behave('token', async () => ({ body: await hostile.tokens() }));
    await provider.metadata(soon());
    hostile.behave('discovery', () => ({ headers: kept, body: hostile.discovery() }));
    await assert.rejects(provider.exchangeCode(EXCHANGE, soon()));
    const tokenEndpoint = async () => (await provider.metadata(soon())).token_endpoint;
    await until(async () => ((await tokenEndpoint()) === old ? undefined : true), 20_000);
    assert.equal((await provider.exchangeCode(EXCHANGE, soon())).accessToken, 'access');
  });

test('a token endpoint that stays away does not cause a storm of documents', async t => {
  const provider = openTestProvider(t, hostile);
  hostile.behave('token', () => ({ status: 404 }));
  for (let n = 0; n < 20; n += 1) await assert.rejects(provider.exchangeCode(EXCHANGE, soon()));
  assert.ok(hostile.asked('discovery').length <= 2);
});

test('a provider that is not there is unreachable', async t => {
  const gone = await startHostileProvider();
  await gone.close();
  await assert.rejects(
    openTestProvider(t, gone).metadata(soon()),
    providerError('unreachable', 'ECONNREFUSED'),
  );
  await assert.rejects(openTestProvider(t, gone).metadata(soon()), { lasting: false });
});

test('what stays until the operator changes something is told from an outage', async t => {
  const provider = openTestProvider(t, { issuer: hostile.issuer.replace('http:', 'https:') });
  await assert.rejects(
    provider.metadata(soon()),
    providerError('unreachable', 'ERR_SSL_WRONG_VERSION_NUMBER'),
  );
  await assert.rejects(provider.metadata(soon()), { lasting: true });
});

test('a port that speaks something else, or that fetch forbids, is told from an outage', async t => {
  const { close, port } = await listenLocally(
    createServer().on('connection', socket => socket.end('HELLO\r\n\r\n')),
  );
  t.after(() => close());
  for (const [issuer, reason] of [
    [`http://127.0.0.1:${port}`, /\(NOT_HTTP_1_1\)\. What its port speaks is not HTTP\/1\.1$/],
    ['http://127.0.0.1:10080', /\(BAD_PORT\)\. The standard of fetch forbids its port/],
  ] as const) {
    const provider = openTestProvider(t, { issuer });
    await assert.rejects(provider.metadata(soon()), providerError('unreachable', reason));
    await assert.rejects(provider.metadata(soon()), { lasting: true });
  }
});

test('proxies named in the environment are not asked', async t => {
  const names = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'NODE_USE_ENV_PROXY'];
  const before = names.map(name => process.env[name]);
  t.after(() => {
    for (const [n, name] of names.entries()) restore(name, before[n]);
  });
  for (const name of names) process.env[name] = 'http://127.0.0.1:1';
  assert.equal((await openTestProvider(t, hostile).metadata(soon())).issuer, hostile.issuer);
});

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
