import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redacted } from './redacted.ts';

test('values that may be credentials are hidden, wherever they stand', () => {
  const shown = JSON.stringify(
    redacted({
      add_request_headers: {
        Authorization: 'Basic s3cret',
        'X-Api-Key': { value: 's3cret' },
        'x-team': 'a',
      },
      request_headers_to_add: [
        { header: { key: 'authorization', value: 's3cret' } },
        { header: { key: 'x-team', value: 'b' } },
      ],
      headers: [{ name: 'cookie', string_match: { exact: 's3cret' } }],
      secret: 's3cret',
      nested: [{ password: 's3cret' }, null, 1, 'plain'],
      tlsSecret: { name: 'site-certificate' },
    }),
  );
  assert.doesNotMatch(shown, /s3cret/);
  for (const part of ['"x-team":"a"', '"value":"b"', 'site-certificate', 'plain'])
    assert.ok(shown.includes(part), part);
});
