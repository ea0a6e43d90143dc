import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerPage, seeOther } from './answer-page.ts';
import { requestWith } from './testing/requests.ts';

const FIXED = [
  ['cache-control', 'no-store'],
  ['referrer-policy', 'no-referrer'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
] as const;

test('every answer has the fixed headers', () => {
  const html = answerPage(requestWith({ accept: 'text/html' }), { status: 400, message: 'm' });
  for (const { headers } of [answerPage(requestWith(), { status: 400, message: 'm' }), html, seeOther('/')]) {
    for (const fixed of FIXED)
      assert.ok(
        headers.some(header => String(header) === String(fixed)),
        fixed[0],
      );
  }
});

for (const [accept, html] of [
  [undefined, false],
  ['*/*', false],
  ['text/*', false],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
  ['TEXT/HTML', true],
  ['application/json, text/plain, */*', false],
  ['application/json;q=0.5, text/html', true],
  ['application/json, text/html;q=0.9', false],
  ['text/html;q=0', false],
  ['text/html;q=x', false],
  [`${'a,'.repeat(100_000)}text/html`, false],
] as const) {
  test(`Accept ${String(accept).slice(0, 60)} is answered ${html ? 'HTML' : 'JSON'}`, () => {
    const { headers } = answerPage(requestWith(accept === undefined ? {} : { accept }), {
      status: 400,
      message: 'm',
    });
    assert.equal(headers[0]?.[1].startsWith('text/html'), html);
  });
}

test('JSON says message and status, the request id on 5XX only', () => {
  const body = (status: number) => JSON.parse(answerPage(requestWith(), { status, message: 'm"' }).body);
  assert.deepEqual(body(499), { message: 'm"', status_code: 499 });
  assert.deepEqual(body(500), { message: 'm"', status_code: 500, request_id: 'request-1' });
});

test('HTML escapes whatever it shows', () => {
  const nasty = `<script>"'&`;
  const request = requestWith({ accept: 'text/html' }, { id: nasty });
  const { body } = answerPage(request, {
    status: 500,
    message: nasty,
    link: { href: `/"${nasty}`, text: nasty },
  });
  assert.doesNotMatch(body, /<script|"'&|="\/"/);
  assert.match(body, /&lt;script&gt;&quot;&#39;&amp;/);
});

test('a page that moves on is HTML, and its target cannot leave the attribute', () => {
  const { body } = answerPage(requestWith(), { status: 200, message: 'm', refresh: '/a?b="><x' });
  assert.match(body, /<meta http-equiv="refresh" content="0; url=\/a\?b=&quot;&gt;&lt;x">/);
});
