import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Ran, runChain } from './chain.ts';
import type { FilterRunner, FilterType, RunnableFilter } from './filter-runner.ts';
import { finalChange, ruleHeaders, withoutInjected } from './final-change.ts';
import type { HttpRequest } from './http-request.ts';
import { ProviderError } from './provider/provider-error.ts';
import type { RuleItem } from './rule.ts';
import { StoreUnavailable } from './store/record-store.ts';
import { requestWith } from './testing/requests.ts';
import { NO_ARGUMENTS, ruleItem, ruleOf } from './testing/rules.ts';
import { allowed, allowing, denying } from './testing/scripted-kit.ts';

type Filters = Readonly<Record<string, RunnableFilter>>;

const jwt = (run: FilterRunner, ...injects: readonly string[]): RunnableFilter => filter('JWT', run, injects);
const oauth2 = (run: FilterRunner, ...injects: readonly string[]): RunnableFilter =>
  filter('OAuth2', run, injects);

function filter(type: FilterType, run: FilterRunner, injects: readonly string[]): RunnableFilter {
  return { type, injects: new Set(injects), run };
}

/** What becomes of a request: a status, or what the upstream gets of its headers. */
async function pass(filters: Filters, items: readonly RuleItem[], request: HttpRequest = requestWith()) {
  const byName = new Map(Object.entries(filters).map(([name, value]) => [`default/${name}`, value]));
  const ran: [filter: string, what: Ran][] = [];
  const headers = ruleHeaders([...byName.values()]);
  const parts = {
    filters: byName,
    signal: () => new AbortController().signal,
    ran: (name: string, what: Ran) => void ran.push([name, what]),
  };
  const result = await runChain(ruleOf(...items), withoutInjected(request, headers), parts);
  const names = ran.map(([name]) => name.replace('default/', ''));
  if (result.kind === 'answer')
    return { status: result.answer.status, by: result.filter, ran: names, answer: result.answer };
  const { set, remove, responseHeaders } = finalChange(request, headers, result);
  const upstream = new Map(request.headers);
  for (const name of remove) upstream.delete(name);
  for (const [name, value] of set) upstream.set(name, [value]);
  assert.deepEqual(
    [...set.keys()].filter(name => remove.has(name)),
    [],
  );
  return { upstream: Object.fromEntries(upstream), responseHeaders, ran: names };
}

const NEXT = ['break', 'continue'] as const;

for (const onDeny of NEXT) {
  test(`deny + ${onDeny}`, async () => {
    const items = [ruleItem('no', { onDeny }), ruleItem('yes')];
    const { ran, status } = await pass({ no: jwt(denying(401)), yes: jwt(allowing()) }, items);
    assert.deepEqual(ran, onDeny === 'break' ? ['no'] : ['no', 'yes']);
    assert.equal(status, onDeny === 'break' ? 401 : undefined);
  });
}

for (const onAllow of NEXT) {
  test(`allow + ${onAllow}`, async () => {
    const items = [ruleItem('a', { onAllow }), ruleItem('b')];
    const filters = { a: jwt(allowing({ 'x-a': '1' }), 'x-a'), b: jwt(allowing({ 'x-b': '2' }), 'x-b') };
    const { upstream } = await pass(filters, items);
    assert.deepEqual(upstream, onAllow === 'break' ? { 'x-a': ['1'] } : { 'x-a': ['1'], 'x-b': ['2'] });
  });
}

test('a denial that the last filter continues goes to the upstream', async () => {
  const { upstream } = await pass({ no: jwt(denying(401)) }, [ruleItem('no', { onDeny: 'continue' })]);
  assert.deepEqual(upstream, {});
});

test('a filter whose condition does not hold is skipped', async () => {
  const { ran } = await pass({ no: jwt(denying(401)) }, [ruleItem('no', { applies: () => false })]);
  assert.deepEqual(ran, []);
});

test('conditions and filters see what earlier filters did to the request', async () => {
  const second = ruleItem('b', { applies: headers => headers.get('x-a')?.[0] === 'set' });
  let seen: HttpRequest | undefined;
  const b = jwt(request => {
    seen = request;
    return allowed();
  });
  const a = jwt(
    () => ({
      kind: 'allow',
      change: {
        set: new Map([['x-a', 'set']]),
        remove: new Set(['x-gone']),
        responseHeaders: [['set-cookie', 'c=1']],
      },
    }),
    'x-a',
  );
  const request = requestWith({ 'x-a': 'client', 'x-gone': '1', 'x-kept': '2' });
  const { responseHeaders, upstream } = await pass({ a, b }, [ruleItem('a'), second], request);
  assert.deepEqual(Object.fromEntries(seen?.headers ?? []), { 'x-a': ['set'], 'x-kept': ['2'] });
  assert.deepEqual(upstream, { 'x-a': ['set'], 'x-kept': ['2'] });
  assert.deepEqual(responseHeaders, [['set-cookie', 'c=1']]);
});

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

for (const [what, error, status] of [
  ['ProviderError timeout', new ProviderError('timeout', 'late'), 504],
  ['ProviderError', new ProviderError('unreachable', 'gone'), 502],
  ['StoreUnavailable', new StoreUnavailable('gone'), 503],
  ['any other error', new TypeError('secret'), 500],
] as const) {
  test(`${what} is answered ${status}, and onDeny decides`, async () => {
    const failing = jwt(() => {
      throw error;
    });
    const { answer } = await pass({ failing }, [ruleItem('failing')]);
    assert.equal(answer?.status, status);
    assert.doesNotMatch(answer?.body ?? '', /secret|gone|late/);
    const { ran } = await pass({ failing, yes: jwt(allowing()) }, [
      ruleItem('failing', { onDeny: 'continue' }),
      ruleItem('yes'),
    ]);
    assert.deepEqual(ran, ['failing', 'yes']);
  });
}

for (const [name, value] of [
  [':path', '/admin'],
  ['host', 'other'],
  ['cookie', 'a=1'],
  ['x-a', 'line\r\nx-b: 1'],
  ['x-a', 'nul\0'],
  ['x a', 'name'],
] as const) {
  test(`a filter that sets ${JSON.stringify([name, value])} is answered 500`, async () => {
    const { status } = await pass({ a: jwt(allowing({ [name]: value })) }, [ruleItem('a')]);
    assert.equal(status, 500);
  });
}

const inner = (...items: readonly RuleItem[]): RuleItem =>
  ruleItem('login', {
    arguments: { ...NO_ARGUMENTS, insteadOfRedirect: { applies: () => true, status: undefined, items } },
  });

/** As the OAuth2 filter does it: the inner chain's outcome, 403 when there is none. */
const instead = oauth2(async (request, item, context) => {
  const items = item.arguments.insteadOfRedirect?.items ?? [];
  return (await context.runInner(items, request)) ?? denying(403)(request, item, context);
}, 'x-user');

for (const [why, items, status] of [
  ['an inner answer is the answer', [ruleItem('no')], 401],
  ['an inner denial continued past the last is 403', [ruleItem('no', { onDeny: 'continue' })], 403],
  ['all inner filters skipped is 403', [ruleItem('yes', { applies: () => false })], 403],
  [
    'an inner filter that lets pass lets pass',
    [ruleItem('no', { onDeny: 'continue' }), ruleItem('yes')],
    undefined,
  ],
] as const) {
  test(`insteadOfRedirect.filters: ${why}`, async () => {
    const filters = {
      login: instead,
      no: jwt(denying(401)),
      yes: jwt(allowing({ 'x-user': 'inner' }), 'x-user'),
    };
    const result = await pass(filters, [inner(...items)], CLIENT);
    assert.equal(result.status, status);
    if (status !== undefined) return;
    assert.deepEqual(result.upstream, { authorization: ['Bearer own'], 'x-user': ['inner'] });
  });
}
