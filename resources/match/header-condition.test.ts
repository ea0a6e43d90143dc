import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HeaderCondition, headerCondition } from './header-condition.ts';
import { toHeaderMatcher } from './header-matcher.ts';

type Request = Readonly<Record<string, readonly string[]>>;

const parse = (written: object): HeaderCondition =>
  headerCondition.parse({ name: 'X-Key', ...written });
const meets = (written: object, request: Request) =>
  toHeaderMatcher(parse(written))(new Map(Object.entries(request)));

/**
 * Rows: the condition, and whether it holds without the header, with it empty, `a`, `ab`, and with
 * the fields `b` and `a`.
 */
const CASES: readonly [
  written: object,
  holds: readonly [boolean, boolean, boolean, boolean, boolean],
][] = [
  [{}, [false, false, true, true, true]],
  [{ negate: true }, [true, true, false, false, false]],
  [{ value: 'a' }, [false, false, true, false, true]],
  [{ value: 'a', negate: true }, [true, true, false, true, false]],
  [{ value: 'A' }, [false, false, false, false, false]],
  [{ valueRegex: 'a' }, [false, false, true, true, true]],
  [{ valueRegex: '^a$' }, [false, false, true, false, true]],
  [{ valueRegex: '^a$', negate: true }, [true, true, false, true, false]],
  [{ valueRegex: '^$' }, [false, true, false, false, false]],
  [{ valueRegex: '(?i)^A' }, [false, false, true, true, true]],
];

const REQUESTS: readonly Request[] = [
  {},
  { 'x-key': [''] },
  { 'x-key': ['a'] },
  { 'x-key': ['ab'] },
  { 'x-key': ['b', 'a'] },
];

for (const [written, holds] of CASES) {
  test(`${JSON.stringify(written)} holds for the requests that it should`, () => {
    assert.deepEqual(
      REQUESTS.map(request => meets(written, request)),
      holds,
    );
  });
}

test('the name is matched in any letter case, Host by its name on the wire', () => {
  assert.equal(parse({ name: 'X-API-Key' }).name, 'x-api-key');
  assert.equal(meets({ name: 'Host', value: 'A.b' }, { ':authority': ['a.b'] }), true);
});

test('a header named like a member of every object is absent when it is not sent', () => {
  for (const name of ['__proto__', 'constructor', 'toString'])
    assert.equal(meets({ name }, {}), false);
});

const REFUSED: readonly [written: object, reason: RegExp][] = [
  [{ name: undefined }, /expected string/],
  [{ name: 'a b' }, /"a b" is not a header name/],
  [{ value: 'a', valueRegex: 'a' }, /`value` and `valueRegex` exclude each other/],
  [{ value: '' }, /Too small/],
  [{ valueRegex: '' }, /Too small/],
  [{ value: 'a\r\nb' }, /no control characters/],
  [{ value: ' a' }, /no white space at its ends/],
  [{ valueRegex: '(' }, /Cannot parse regular expression "\("/],
  [{ valueRegex: '\\C' }, /Cannot parse regular expression "\\\\C"/],
  [{ valueRegex: '(?=a)' }, /Cannot parse regular expression/],
  [{ valueRegex: '(a)\\1' }, /Cannot parse regular expression/],
];

for (const [written, reason] of REFUSED) {
  test(`${JSON.stringify(written)} is no condition`, () => {
    const { error } = headerCondition.safeParse({ name: 'X-Key', ...written });
    assert.match(error?.issues[0]?.message ?? '', reason);
  });
}

test('no expression makes a long header slow', () => {
  const started = process.cpuUsage();
  meets({ valueRegex: '(a*)*b' }, { 'x-key': ['a'.repeat(8000)] });
  assert.ok(process.cpuUsage(started).user < 1_000_000);
});
