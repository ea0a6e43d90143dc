import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { RuleItem } from '#ext-authz/policy/rule.ts';
import { ProviderError } from '#ext-authz/provider/provider-error.ts';
import { StoreUnavailable } from '#ext-authz/store/record-store.ts';
import { requestWith } from '#ext-authz/testing/requests.ts';
import { NO_ARGUMENTS, ruleItem } from '#ext-authz/testing/rules.ts';
import { jwt, oauth2, pass } from '#ext-authz/testing/run-filters.ts';
import { allowed, allowing, denying } from '#ext-authz/testing/scripted-kit.ts';

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
    const filters = {
      a: jwt(allowing({ 'x-a': '1' }), 'x-a'),
      b: jwt(allowing({ 'x-b': '2' }), 'x-b'),
    };
    const { upstream } = await pass(filters, items);
    assert.deepEqual(
      upstream,
      onAllow === 'break' ? { 'x-a': ['1'] } : { 'x-a': ['1'], 'x-b': ['2'] },
    );
  });
}

test('a denial that the last filter continues goes to the upstream', async () => {
  const { upstream } = await pass({ no: jwt(denying(401)) }, [
    ruleItem('no', { onDeny: 'continue' }),
  ]);
  assert.deepEqual(upstream, {});
});

test('a filter whose condition does not hold is skipped', async () => {
  const { ran } = await pass({ no: jwt(denying(401)) }, [ruleItem('no', { applies: () => false })]);
  assert.deepEqual(ran, []);
});

test('conditions and filters see what earlier filters did to the request', async () => {
  const second = ruleItem('b', { applies: ({ headers }) => headers.get('x-a')?.[0] === 'set' });
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

for (const [wanted, told] of [
  [7_000, '7'],
  [0, '1'],
  [999_999_000, '3600'],
] as const) {
  test(`a provider that wants to be asked again in ${wanted} ms: 502 with Retry-After ${told}`, async () => {
    const error = new ProviderError('http_status', 'busy', { status: 429, retryAfter: wanted });
    const failing = jwt(() => {
      throw error;
    });
    const { answer } = await pass({ failing }, [ruleItem('failing')]);
    assert.equal(answer?.status, 502);
    assert.equal(new Map(answer?.headers).get('retry-after'), told);
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
    arguments: {
      ...NO_ARGUMENTS,
      insteadOfRedirect: { applies: () => true, status: undefined, items },
    },
  });

/** Returns the inner chain's outcome, or 403 when there is none, as the OAuth2 filter does. */
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
    const result = await pass(
      filters,
      [inner(...items)],
      requestWith({ authorization: 'Bearer own' }),
    );
    assert.equal(result.status, status);
    if (status !== undefined) return;
    assert.deepEqual(result.upstream, { authorization: ['Bearer own'], 'x-user': ['inner'] });
  });
}
