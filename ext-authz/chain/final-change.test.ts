import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestWith } from '#ext-authz/testing/requests.ts';
import { ruleItem } from '#ext-authz/testing/rules.ts';
import { type Filters, jwt, oauth2, pass } from '#ext-authz/testing/run-filters.ts';
import { allowed, allowing, denying } from '#ext-authz/testing/scripted-kit.ts';

test('no filter sees what only a filter may say, in whatever spelling', async () => {
  let seen: readonly string[] = [];
  const a = jwt(request => {
    seen = [...request.headers.keys()];
    return allowed();
  }, 'X-User-ID');
  const request = requestWith({
    'x-user-id': ['root', 'admin'],
    x_user_id: 'root',
    'x-user_id': 'root',
    'x-user': 'kept',
  });
  const { upstream } = await pass({ a }, [ruleItem('a')], request);
  assert.deepEqual(seen, ['x-user']);
  assert.deepEqual(upstream, { 'x-user': ['kept'] });
});

for (const [why, item] of [
  ['is skipped', ruleItem('a', { applies: () => false })],
  ['denies and is continued', ruleItem('a', { onDeny: 'continue' })],
] as const) {
  test(`what a filter may say is removed also when it ${why}`, async () => {
    const { upstream } = await pass(
      { a: jwt(denying(401), 'x-user') },
      [item],
      requestWith({ 'x-user': 'root' }),
    );
    assert.deepEqual(upstream, {});
  });
}

for (const order of [
  ['login', 'tokens'],
  ['tokens', 'login'],
] as const) {
  test(`OAuth2 wins over JWT for one name: ${order.join(', ')}`, async () => {
    const filters = {
      login: oauth2(allowing({ 'x-user': 'login' }), 'x-user'),
      tokens: jwt(allowing({ 'x-user': 'tokens' }), 'x-user'),
    };
    const { upstream } = await pass(
      filters,
      order.map(name => ruleItem(name)),
    );
    assert.deepEqual(upstream, { 'x-user': ['login'] });
  });

  test(`an injected Authorization wins over an access token: ${order.join(', ')}`, async () => {
    const filters = {
      login: oauth2(allowing({ authorization: 'Bearer access' })),
      tokens: jwt(allowing({ authorization: 'Basic injected' }), 'authorization'),
    };
    const { upstream } = await pass(
      filters,
      order.map(name => ruleItem(name)),
    );
    assert.deepEqual(upstream, { authorization: ['Basic injected'] });
  });
}

const CLIENT = requestWith({ authorization: 'Bearer own' });

for (const [why, filters, items, expected] of [
  [
    'with a JWT filter that is skipped it stays',
    { t: jwt(denying(401)) },
    [ruleItem('t', { applies: () => false })],
    'Bearer own',
  ],
  [
    'with an OAuth2 filter that is skipped it goes',
    { l: oauth2(denying(403)) },
    [ruleItem('l', { applies: () => false })],
    undefined,
  ],
  [
    'with an OAuth2 filter that is continued it goes',
    { l: oauth2(denying(403)) },
    [ruleItem('l', { onDeny: 'continue' })],
    undefined,
  ],
  [
    'with OAuth2 it becomes the access token',
    { l: oauth2(allowing({ authorization: 'Bearer access' })) },
    [ruleItem('l')],
    'Bearer access',
  ],
  [
    'beside OAuth2 it stays when a JWT filter allowed it',
    { l: oauth2(denying(403)), t: jwt(allowing()) },
    [ruleItem('t', { onAllow: 'break' }), ruleItem('l')],
    'Bearer own',
  ],
  [
    'beside OAuth2 it goes when the JWT filter denied it',
    { l: oauth2(denying(403)), t: jwt(denying(401)) },
    [ruleItem('t', { onDeny: 'continue' }), ruleItem('l', { onDeny: 'continue' })],
    undefined,
  ],
  [
    'with an OAuth2 filter that allows without a token it goes',
    { l: oauth2(allowing()) },
    [ruleItem('l')],
    undefined,
  ],
  [
    'a JWT filter after OAuth2 has not checked it but the access token',
    { l: oauth2(allowing({ authorization: 'Bearer access' })), t: jwt(allowing()) },
    [ruleItem('l'), ruleItem('t')],
    'Bearer access',
  ],
  [
    'where a filter may set it, it goes even if that sets none',
    { t: jwt(allowing(), 'authorization') },
    [ruleItem('t')],
    undefined,
  ],
] as const) {
  test(`Authorization of the client: ${why}`, async () => {
    const { upstream } = await pass(filters as unknown as Filters, items, CLIENT);
    assert.deepEqual(upstream?.authorization?.[0], expected);
  });
}

test('credential headers reach filters, in no spelling the upstream', async () => {
  let seen = 0;
  const a = oauth2(request => {
    seen = request.headers.size;
    return allowed();
  });
  const request = requestWith({
    'x-gateway-password': 'p',
    x_gateway_username: 'u',
    'x-gateway-client_secret': 's',
  });
  const { upstream } = await pass({ a }, [ruleItem('a')], request);
  assert.equal(seen, 3);
  assert.deepEqual(upstream, {});
});

test('of a cookie whose true value a filter knows, another value does not reach the upstream', async () => {
  const change = { set: new Map(), remove: new Set<string>(), responseHeaders: [] };
  const login = oauth2(() => ({
    kind: 'allow',
    change: { ...change, cookies: new Map([['gateway_xsrf.x', 'true']]) },
  }));
  const request = requestWith({ cookie: ['gateway_xsrf.x=planted; a=1', 'gateway_xsrf.x=true'] });
  const { upstream } = await pass({ login }, [ruleItem('login')], request);
  assert.deepEqual(upstream, { cookie: ['a=1; gateway_xsrf.x=true'] });
});
