import assert from 'node:assert/strict';
import { test } from 'node:test';
import { corsFilter } from '#resources/kinds/gateway-api/cors-filter.ts';
import { corsChanges } from './rule-filters.ts';

const matchersOf = (...allowOrigins: readonly string[]) => {
  const cors = corsFilter.parse({ allowOrigins });
  const made = JSON.stringify(corsChanges([{ type: 'CORS', cors }]));
  return [...made.matchAll(/"(?:exact|regex)":"([^"]*)"/g)].map(([, text]) => text);
};

test('origins of a route are compared as browsers write them', () => {
  assert.deepEqual(matchersOf('https://Shop.Example.com:443', 'http://a.test:80'), [
    'https://shop.example.com',
    'http://a.test',
  ]);
  assert.deepEqual(matchersOf('https://a.test:8443', 'http://many.test:443'), [
    'https://a.test:8443',
    'http://many.test:443',
  ]);
  assert.deepEqual(matchersOf('https://*.Company.com', 'http://*:8080', 'https://*:443'), [
    'https://[a-z0-9._-]+\\\\.company\\\\.com',
    'http://[a-z0-9._-]+:8080',
    'https://[a-z0-9._-]+',
  ]);
  assert.deepEqual(matchersOf('*'), ['*']);
});

for (const origin of [
  'https://a.test:99999',
  'http://1.2.3.4.5',
  'http://a.-b',
  'http://256.1.1.1',
])
  test(`an origin that no browser can send allows nobody: ${origin}`, () => {
    assert.deepEqual(matchersOf(origin, 'https://b.test'), [origin, 'https://b.test']);
  });
