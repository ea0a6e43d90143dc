import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { WordedFault } from '#ext-authz/chain/fault.ts';
import type { GatewayAnswer } from '#ext-authz/http/filter-decision.ts';
import { authorize, grantCodes } from '#ext-authz/oauth2/testing/code-provider.ts';
import { TestBrowser, toRequest } from '#ext-authz/oauth2/testing/test-browser.ts';
import type { TestGateway } from '#ext-authz/oauth2/testing/test-gateway.ts';
import { useWorld } from '#ext-authz/oauth2/testing/world.ts';
import { gatewayEndpoint } from './gateway-endpoint.ts';

const { open, provider } = useWorld();
const PAGE = 'https://a.test/page?of=alice';
const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8';
const SECRET = 'a-secret-of-alice';

/** A login up to its callback, with what must not be shown of it. */
async function begin(t: TestContext) {
  const { browser, gateway } = await open(t);
  const { location = '' } = await browser.visit(PAGE);
  return { browser, gateway, callback: authorize(new URL(location)) };
}
type Begun = Awaited<ReturnType<typeof begin>>;

/** The very answer, also of a fault. */
async function answerTo(gateway: TestGateway, browser: TestBrowser, url: string, accept: string) {
  const cookies = browser.jar.for(new URL(url)).map(({ name, value }) => `${name}=${value}`);
  const request = toRequest(new URL(url), cookies, { headers: { accept } });
  const signal = AbortSignal.timeout(20_000);
  const filters = gateway.filters[0] ?? [];
  const answered = gatewayEndpoint(
    request,
    filters,
    () => signal,
    () => undefined,
  );
  const answer = await answered.catch(error => {
    if (error instanceof WordedFault) return error.answer;
    throw error;
  });
  assert.ok(answer);
  return answer;
}

const errorAt = (callback: string, error: string) => {
  const url = new URL(callback);
  url.searchParams.delete('code');
  url.searchParams.set('error', error);
  url.searchParams.set('error_description', SECRET);
  return url.href;
};

type Case = readonly [
  what: string,
  status: number,
  title: string,
  prepare: (begun: Begun) => Begun | string,
];

const CASES: readonly Case[] = [
  [
    'an ID token of another client',
    502,
    'Your login could not be confirmed',
    () => {
      grantCodes(provider(), () => ({ claims: { aud: 'other', email: SECRET } }));
      return '';
    },
  ],
  [
    'an outage of the provider',
    502,
    'The login is not available at the moment',
    () => {
      provider().behave('token', () => 'hang up');
      return '';
    },
  ],
  [
    'a provider that answers 503',
    502,
    'The login is not available at the moment',
    () => {
      provider().behave('token', () => ({ status: 503, body: SECRET }));
      return '';
    },
  ],
  [
    'an answer that is no token answer',
    502,
    'The login does not work',
    () => {
      provider().behave('token', () => ({ body: SECRET }));
      return '';
    },
  ],
  [
    'an ID token that is too large to be stored',
    502,
    'The login does not work',
    () => {
      grantCodes(provider(), () => ({ claims: { groups: 'a'.repeat(100_000) } }));
      return '';
    },
  ],
  [
    'a state that was never made here',
    400,
    'This login was used already, or it took too long',
    ({ callback }) => callback.replace(/state=[^&]*/, `state=${'a'.repeat(43)}`),
  ],
  [
    'a callback in another browser',
    403,
    'This login belongs to another browser',
    begun => ({ ...begun, browser: new TestBrowser(begun.gateway) }),
  ],
  [
    'a login that the provider denied',
    403,
    'You were denied access',
    ({ callback }) => errorAt(callback, 'access_denied'),
  ],
  [
    'another error of the provider',
    502,
    'The login failed',
    ({ callback }) => errorAt(callback, 'server_error'),
  ],
];

async function answerOf(t: TestContext, prepare: Case[3], accept: string): Promise<GatewayAnswer> {
  const begun = await begin(t);
  const changed = prepare(begun);
  const { browser, callback, gateway } =
    typeof changed === 'string' ? { ...begun, callback: changed || begun.callback } : changed;
  return answerTo(gateway, browser, callback, accept);
}

for (const [what, status, title, prepare] of CASES) {
  test(`${what}: a page of its own that says what happened and what to do`, async t => {
    const { body, headers, status: seen } = await answerOf(t, prepare, HTML);
    assert.equal(seen, status);
    assert.ok(body.includes(`<h1>${title}</h1>`), body);
    assert.match(body, /<p>.*(?:[Ss]tart again|request ID|ask the people)/);
    assert.match(body, /<a href="[^"]+">Start again<\/a>/);
    assert.match(body, /request ID <code>request-1<\/code>/);
    assert.ok(!body.includes(SECRET));
    const fields = new Map(headers);
    assert.equal(
      fields.get('content-security-policy'),
      "default-src 'none'; frame-ancestors 'none'",
    );
    assert.equal(fields.get('cache-control'), 'no-store');
  });

  test(`${what}: the same facts as JSON`, async t => {
    const { body, headers } = await answerOf(t, prepare, 'application/json');
    assert.equal(new Map(headers).get('content-type'), 'application/json');
    const { message, ...others } = JSON.parse(body);
    assert.ok(message.length > 10);
    assert.deepEqual(others, { request_id: 'request-1', status_code: status });
    assert.ok(!body.includes(SECRET));
  });
}

test('a state that took too long has the page of a used one', async t => {
  const { browser, callback, gateway } = await begin(t);
  gateway.advance(601_000);
  const { body, status } = await answerTo(gateway, browser, callback, HTML);
  assert.equal(status, 400);
  assert.match(body, /<h1>This login was used already, or it took too long<\/h1>/);
});

for (const [status, body] of [
  [503, ''],
  [429, ''],
  [429, { error: 'too_many_requests' }],
] as const)
  test(`a provider that answers ${status} ${JSON.stringify(body)} and says when it is back: 502 with its Retry-After`, async t => {
    const { browser, callback, gateway } = await begin(t);
    provider().behave('token', () => ({ status, headers: { 'retry-after': '7' }, body }));
    const answer = await answerTo(gateway, browser, callback, HTML);
    assert.equal(answer.status, 502);
    assert.equal(new Map(answer.headers).get('retry-after'), '7');
    assert.match(answer.body, /<h1>The login is not available at the moment<\/h1>/);
  });

test('a provider that is late: 504, and nothing is wrong with the account', async t => {
  const { browser, gateway } = await open(t, { deadlineMs: 300 });
  const { location = '' } = await browser.visit(PAGE);
  provider().behave('token', () => 'hang');
  const { body, status } = await answerTo(gateway, browser, authorize(new URL(location)), HTML);
  assert.equal(status, 504);
  assert.match(
    body,
    /<h1>The login is not available at the moment<\/h1>.*Nothing is wrong with your account/s,
  );
});
