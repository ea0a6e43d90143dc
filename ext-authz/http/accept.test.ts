import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptsHtml } from './accept.ts';

const TABLE: readonly [accept: string | undefined, html: boolean][] = [
  [undefined, true],
  ['*/*', true],
  ['text/*', true],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
  ['TEXT/HTML', true],
  ['application/json', false],
  ['APPLICATION/JSON; charset=utf-8', false],
  ['application/json, text/plain, */*', false],
  ['application/json, text/html;q=0.9', false],
  ['application/json, text/html', true],
  ['application/json;q=0, */*', true],
  ['text/html;q=0, */*', false],
  ['*/*;q=0', false],
  ['', false],
  ['text/event-stream', false],
  ['image/avif,image/webp', false],
  ['application/vnd.api+json', false],
];

for (const [accept, html] of TABLE) {
  test(`Accept ${accept} ${html ? 'takes' : 'does not take'} an HTML page`, () => {
    const headers = new Map(accept === undefined ? [] : [['accept', [accept]]]);
    assert.equal(acceptsHtml(headers), html);
  });
}

test('of an Accept of 100,000 ranges the first are read', () => {
  assert.equal(acceptsHtml(new Map([['accept', [`${'a,'.repeat(100_000)}text/html`]]])), false);
});
