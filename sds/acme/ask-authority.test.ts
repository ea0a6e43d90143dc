import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import tls from 'node:tls';
import { testAuthority } from '#grpc/testing/test-authority.ts';
import { askAuthority } from './ask-authority.ts';
import { AuthorityError, plainWords } from './authority-error.ts';

type Answer = (response: ServerResponse) => void;

const problem =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer =>
  response =>
    void response.writeHead(status, headers).end(JSON.stringify(body));

const RATE_LIMITED = 'urn:ietf:params:acme:error:rateLimited';
const BAD_NONCE = { type: 'urn:ietf:params:acme:error:badNonce', detail: 'again' };

describe('an authority is asked', () => {
  const roots = tls.getCACertificates();
  let port = 0;
  let answer: Answer = response => void response.end();
  let stop = () => {};
  before(async () => {
    const authority = await testAuthority();
    const { certificate: cert, key } = await authority.issue('localhost');
    const server = createServer({ cert, key }, (_request, response) => answer(response));
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
    stop = () => {
      server.close();
      server.closeAllConnections();
    };
    tls.setDefaultCACertificates([authority.ca]);
  });
  after(() => {
    tls.setDefaultCACertificates(roots);
    stop();
  });

  const ask = (path = '/', method = 'POST') =>
    askAuthority({ url: `https://localhost:${port}${path}`, method, data: '{}' }, () => 0);

  const failsWith = async (given: Answer, kind: string, words: RegExp, retryAfterMs = 0) => {
    answer = given;
    await assert.rejects(ask(), (error: unknown) => {
      assert.ok(error instanceof AuthorityError);
      assert.deepEqual([error.kind, error.retryAfterMs], [kind, retryAfterMs]);
      assert.match(error.message, words);
      return true;
    });
  };

  test('and what it answers is returned, with the names of headers in lower case', async () => {
    answer = response => void response.writeHead(201, { 'Replay-Nonce': 'n' }).end('{"a":1}');
    const { data, headers, status } = await ask();
    assert.deepEqual([status, headers['replay-nonce'], data], [201, 'n', '{"a":1}']);
  });

  test('and a nonce that it rejects is left to the client, which has a new one then', async () => {
    answer = problem(400, BAD_NONCE);
    assert.equal((await ask()).status, 400);
  });

  const FAILURES: readonly [
    name: string,
    answer: Answer,
    kind: string,
    words: RegExp,
    ms?: number,
  ][] = [
    ['a problem', problem(403, { detail: 'no, never' }), 'refused', /^no, never$/],
    [
      'a limit, with seconds',
      problem(429, { type: RATE_LIMITED, detail: 'too many' }, { 'retry-after': '120' }),
      'limited',
      /^too many$/,
      120_000,
    ],
    [
      'a limit, with a date',
      problem(429, { detail: 'too many' }, { 'retry-after': 'Thu, 01 Jan 1970 00:01:00 GMT' }),
      'limited',
      /^too many$/,
      60_000,
    ],
    [
      'a limit, with nonsense',
      problem(429, { detail: 'x' }, { 'retry-after': '-5 x' }),
      'limited',
      /x/,
    ],
    ['a limit, without a time', problem(429, { detail: 'x' }), 'limited', /^x$/],
    ['a limit, by its type', problem(403, { type: RATE_LIMITED }), 'limited', /with 403$/],
    ['a limit of all', problem(503, { type: RATE_LIMITED }), 'away', /with 503$/],
    [
      'an outage',
      problem(503, {}, { 'retry-after': '9' }),
      'away',
      /answers POST with 503$/,
      9_000,
    ],
    ['a redirect', problem(302, {}, { location: 'https://localhost/' }), 'away', /with 302$/],
    ['no JSON', response => void response.writeHead(400).end('<html>'), 'refused', /with 400$/],
    ['null', problem(400, null), 'refused', /with 400$/],
    ['another detail', problem(400, { detail: { a: 1 } }), 'refused', /with 400$/],
    ['a used nonce and 500', problem(500, BAD_NONCE), 'away', /^again$/],
    [
      'too much',
      response => void response.end('x'.repeat(600_000)),
      'away',
      /more than 524288 bytes/,
    ],
    ['nothing', response => void response.destroy(), 'away', /^localhost:\d+ cannot be asked: /],
  ];

  for (const [name, given, kind, words, ms] of FAILURES)
    test(`and ${name} is a failure: ${kind}`, () => failsWith(given, kind, words, ms));

  for (const url of ['', 'x', 'http://localhost/', 'file:///etc/passwd', '//localhost'])
    test(`but not by "${url}"`, async () => {
      await assert.rejects(
        askAuthority({ url }, () => 0),
        /is not asked, because its URL/,
      );
    });

  test('and who cannot prove to be it is not asked', async () => {
    tls.setDefaultCACertificates([]);
    await assert.rejects(ask('/other'), /cannot be asked/);
  });
});

test("an authority's words are one short line, whatever they hold", () => {
  assert.equal(plainWords('a\r\n\tb\u001b[31mc\u202ed'), 'a b [31mc d');
  assert.equal(plainWords('x'.repeat(5_000)).length, 300);
  assert.equal(plainWords(''), '');
});
