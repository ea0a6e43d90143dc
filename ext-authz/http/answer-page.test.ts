import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { requestWith } from '#ext-authz/testing/requests.ts';
import { answerPage, seeOther } from './answer-page.ts';

const FIXED = [
  ['cache-control', 'no-store'],
  ['referrer-policy', 'no-referrer'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
] as const;

test('every answer has the fixed headers', () => {
  const html = answerPage(requestWith({ accept: 'text/html' }), { status: 400, message: 'm' });
  for (const { headers } of [
    answerPage(requestWith(), { status: 400, message: 'm' }),
    html,
    seeOther('/'),
  ]) {
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

test('JSON says message, request id and status, and no words for people', () => {
  const page = {
    status: 403,
    message: 'm"',
    title: 't',
    advice: 'a',
    links: [{ href: '/', text: 'l' }],
  };
  const body = (id: string) => JSON.parse(answerPage(requestWith({}, { id }), page).body);
  assert.deepEqual(body('r-1'), { message: 'm"', request_id: 'r-1', status_code: 403 });
  assert.deepEqual(body(''), { message: 'm"', status_code: 403 });
});

test('HTML is a page in the colours of its reader, with a headline, what to do and where to go', () => {
  const request = requestWith({ accept: 'text/html' });
  const links = [
    { href: '/a', text: 'One' },
    { href: '/b', text: 'Two' },
  ];
  const { body } = answerPage(request, { status: 403, message: 'What.', advice: 'Do.', links });
  assert.match(body, /^<!doctype html>\n<html lang="en">/);
  assert.match(body, /<meta name="color-scheme" content="light dark">/);
  assert.match(body, /<meta name="viewport" content="width=device-width, initial-scale=1">/);
  assert.match(body, /<title>You may not see this page<\/title>/);
  const main = /<main>(.*)<\/main>/s.exec(body)?.[1]?.trim().split('\n');
  assert.deepEqual(main, [
    '<h1>You may not see this page</h1>',
    '<p>What.</p>',
    '<p>Do.</p>',
    '<ul>',
    '<li><a href="/a">One</a></li>',
    '<li><a href="/b">Two</a></li>',
    '</ul>',
    '<p><small>Status 403, request ID <code>request-1</code></small></p>',
  ]);
});

test('HTML with a status that has no name has the headline of its class', () => {
  const request = requestWith({ accept: 'text/html' });
  for (const [status, headline] of [
    [420, 'This request cannot be answered'],
    [499, 'This request cannot be answered'],
    [599, 'This page does not work at the moment'],
  ] as const) {
    const { body } = answerPage(request, { status, message: 'm' });
    assert.match(body, new RegExp(`<title>${headline}</title>[^]*<h1>${headline}</h1>`));
  }
});

test('HTML has no style, script or image, which its Content-Security-Policy would not let in', () => {
  const request = requestWith({ accept: 'text/html' });
  for (const status of [400, 401, 403, 404, 405, 413, 429, 500, 502, 503, 504]) {
    const { body } = answerPage(request, { status, message: 'm' });
    assert.doesNotMatch(body, /<(?:style|script|img|link|form)|style=|\son\w+=|<h1><\/h1>/);
  }
});

test('HTML escapes whatever it shows', () => {
  const nasty = `<script>"'&`;
  const request = requestWith({ accept: 'text/html' }, { id: nasty });
  const { body } = answerPage(request, {
    status: 500,
    message: nasty,
    title: nasty,
    advice: nasty,
    links: [{ href: `/"${nasty}`, text: nasty }],
  });
  assert.doesNotMatch(body, /<script|"'&|="\/"/);
  assert.match(body, /&lt;script&gt;&quot;&#39;&amp;/);
});

test('a page that moves on is HTML, and its target cannot leave the attribute', () => {
  const { body } = answerPage(requestWith(), {
    status: 200,
    message: 'm',
    refresh: { url: '/a?b="><x' },
  });
  assert.match(body, /<meta http-equiv="refresh" content="0; url=\/a\?b=&quot;&gt;&lt;x">/);
});

test('the page that moves on may run its own script, by its hash, and no other', () => {
  const { body, headers } = answerPage(requestWith(), {
    status: 200,
    message: 'm',
    refresh: { url: '/a' },
  });
  const policy = new Map(headers).get('content-security-policy') ?? '';
  const [, script = ''] = /<script>(.*)<\/script>/.exec(body) ?? [];
  const source = `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
  assert.equal(policy, `default-src 'none'; script-src ${source}; frame-ancestors 'none'`);
  assert.ok(!script.includes('/a'));
});
