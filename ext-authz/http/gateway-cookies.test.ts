import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unfilteredChange } from '#ext-authz/chain/final-change.ts';
import { requestWith } from '#ext-authz/testing/requests.ts';
import { NO_CHANGE } from './filter-decision.ts';
import { withoutGatewayCookies } from './gateway-cookies.ts';

const S = 'gateway_session.login.default=0123';

for (const [field, left] of [
  [S, []],
  [`${S}; a=1`, ['a=1']],
  [`a=1; ${S}`, ['a=1']],
  [`a=1;${S};b=2`, ['a=1;b=2']],
  [`a=1; ${S}; ${S}; gateway_pending.x.y=1;  b="2"`, ['a=1;  b="2"']],
  [`a=1;\t${S}`, ['a=1']],
  [`__Host-${S}; a=1; __Host-gateway_pending.x.y~01234567=1`, ['a=1']],
  ['gateway_session.x', []],
  ['gateway_session.=', []],
  ['gateway_xsrf.login.default=1', ['gateway_xsrf.login.default=1']],
  ['my_gateway_session.x=1', ['my_gateway_session.x=1']],
  ['gateway_session=1', ['gateway_session=1']],
  ['a=gateway_session.x', ['a=gateway_session.x']],
  [`a="; ${S}`, ['a="']],
  [`=; ;;${S}`, ['=; ;']],
  [`a=\u00ff; b=\u00c3\u00a9; ${S}`, ['b=\u00c3\u00a9']],
] as const) {
  test(`of ${field} goes on: ${left}`, () => {
    assert.deepEqual(withoutGatewayCookies([field]), left);
  });
}

for (const [field, left] of [
  ['gateway_xsrf.a.b=mine; a=1', ['gateway_xsrf.a.b=mine; a=1']],
  ['gateway_xsrf.a.b=planted; gateway_xsrf.a.b=mine; a=1', ['gateway_xsrf.a.b=mine; a=1']],
  ['gateway_xsrf.a.b=planted', []],
  ['gateway_xsrf.a.b="mine"; a=1', ['a=1']],
  ['\u00a0gateway_xsrf.a.b=planted; a=1', ['a=1']],
  ['gateway_xsrf.a.b\u0085=planted; a=1', ['a=1']],
  ['gateway_xsrf_a_b=planted; a=1', ['a=1']],
  ['gateway_xsrf a[b=planted; a=1', ['a=1']],
  ['my_gateway_xsrf_a_b=other', ['my_gateway_xsrf_a_b=other']],
  ['gateway_xsrf.c.d=other', ['gateway_xsrf.c.d=other']],
] as const) {
  test(`of ${JSON.stringify(field)} goes on where one value is true: ${left}`, () => {
    assert.deepEqual(withoutGatewayCookies([field], new Map([['gateway_xsrf.a.b', 'mine']])), left);
  });
}

test('each field is parsed by itself', () => {
  assert.deepEqual(withoutGatewayCookies(['a="', S, `b"; ${S}`]), ['a="', 'b"']);
});

test('fields without ours are the very same', () => {
  const fields = ['a=1', 'gateway_xsrf.a.b=1', '\u00ff'];
  assert.equal(withoutGatewayCookies(fields), fields);
});

test('a name of 100,000 blanks is read in a moment', () => {
  const before = process.cpuUsage();
  const field = `gateway_xsrf.a.b${' '.repeat(100_000)}\u00a0=planted`;
  assert.deepEqual(withoutGatewayCookies([field], new Map([['gateway_xsrf.a.b', 'mine']])), []);
  assert.ok(process.cpuUsage(before).user < 1_000_000);
});

test('a million cookies take no longer than reading them', () => {
  const field = `${'a=1; '.repeat(1_000_000)}${S}`;
  assert.equal(withoutGatewayCookies([field])[0]?.length, field.length - S.length - 2);
});

test('a request that no filter has seen loses our cookies and the credential headers, and nothing else', () => {
  assert.equal(unfilteredChange(requestWith({ cookie: 'a=1', authorization: 'x' })), NO_CHANGE);
  const { remove, set } = unfilteredChange(
    requestWith({ cookie: [S, ''], 'x-gateway-username': 'u', x_gateway_password: 'p' }),
  );
  assert.deepEqual([...remove], ['x-gateway-username', 'x_gateway_password', 'cookie']);
  assert.deepEqual([...set], []);
  const several = unfilteredChange(requestWith({ cookie: ['a=1', `b=2; ${S}`] }));
  assert.deepEqual([...several.set], [['cookie', 'a=1; b=2']]);
});
