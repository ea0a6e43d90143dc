import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AcmeRecord, parseRecord } from './acme-record.ts';

const WHOLE: AcmeRecord = {
  directory: 'https://ca.example.com/directory',
  proved: 'http-01',
  replaced: '1f',
  claim: {
    by: 'a',
    until: 5,
    challenge: { type: 'tls-alpn-01', token: 't', keyAuthorization: 't.k' },
  },
  failures: { count: 2, notBefore: 7, next: 'tls-alpn-01', reasons: { 'http-01': 'no' } },
};

test('what was kept is read as it was written', () => {
  assert.deepEqual(parseRecord(JSON.stringify(WHOLE)), WHOLE);
});

for (const text of [undefined, '', 'x', 'null', '5', '"a"', '[]', '{}', '{"claim":5}'])
  test(`${text} is nothing`, () => assert.deepEqual(parseRecord(text), {}));

test('each part that has another form counts as missing', () => {
  const wrong = [null, 5, '', 'x', [], {}, { type: 'dns-01', token: 1 }];
  for (const key of Object.keys(WHOLE) as (keyof AcmeRecord)[])
    for (const value of wrong) {
      const { [key]: _, ...rest } = WHOLE;
      const read = parseRecord(JSON.stringify({ ...WHOLE, [key]: value }));
      if (['directory', 'replaced'].includes(key) && typeof value === 'string') continue;
      assert.deepEqual(read, rest, `${key} ${JSON.stringify(value)}`);
    }
});
