import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';
import { askedService } from './mapping-tls.ts';

const specOf = (fields: object) => {
  const [mapping] = parseText(
    documentOf('Mapping', { prefix: '/', service: 'shop', ...fields }),
  ).resources;
  assert.ok(mapping?.kind === 'Mapping');
  return mapping.spec;
};

for (const [service, tls, asked] of [
  ['shop', false, 'http shop:80'],
  ['https://shop', false, 'https shop:443'],
  ['shop', true, 'https shop:443'],
  ['http://shop', true, 'https shop:443'],
  ['shop', 'upstream', 'https shop:443'],
  ['https://shop', 'upstream', 'https shop:443'],
  ['shop:8443', 'upstream', 'https shop:8443'],
  ['shop:80', true, 'https shop:80'],
  ['http://[::1]:9000', { name: 'upstream', namespace: 'gw' }, 'https ::1:9000'],
] as const) {
  test(`${service} with tls ${JSON.stringify(tls)} is asked as ${asked}`, () => {
    const { host, port, scheme } = askedService(specOf({ service, tls }));
    assert.equal(`${scheme} ${host}:${port}`, asked);
    assert.deepEqual(problemsOf('Mapping', { prefix: '/', service, tls }), []);
  });
}

test('a TLSContext is named as Hosts name theirs', () => {
  assert.deepEqual(specOf({ tls: 'upstream' }).tls, { name: 'upstream' });
  assert.deepEqual(specOf({ tls: { name: 'upstream', namespace: 'gw' } }).tls, {
    name: 'upstream',
    namespace: 'gw',
  });
});
