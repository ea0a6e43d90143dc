import assert from 'node:assert/strict';
import type { ServerHttp2Stream } from 'node:http2';
import { type TestContext, test } from 'node:test';
import { listen } from '#grpc/listen.ts';
import { findTool } from '#launcher/testing/find-tool.ts';
import { Connections } from '../connections.ts';
import { serveEcho } from '../testing/echo-server.ts';
import { failedTwice, runH2spec } from '../testing/h2spec.ts';
import { call, openSession } from '../testing/http2-client.ts';

const { path: h2spec, skip } = findTool('h2spec');

/** They run side by side, because they mostly wait. */
const PARTS: readonly (readonly string[])[] = [
  ['generic', 'hpack'],
  ['http2/3', 'http2/4', 'http2/5.1/1', 'http2/5.1/2', 'http2/5.1/3', 'http2/5.1/4'],
  ['http2/5.1/5', 'http2/5.1/6', 'http2/5.1/7', 'http2/5.1/8', 'http2/5.1/9'],
  ['http2/5.1/10', 'http2/5.1/11', 'http2/5.1/12', 'http2/5.1/13'],
  ['http2/5.1.1', 'http2/5.1.2', 'http2/5.3', 'http2/5.4', 'http2/5.5'],
  ['http2/6', 'http2/7', 'http2/8'],
];

const NO_DATA =
  'h2spec asks with GET and waits for DATA. GET is answered with 405, which has none: see the next test';
const IGNORED =
  'nghttp2 drops frames of streams that are closed, since a peer may not have seen it yet (RFC 9113, 5.1). They cost what an unknown frame does: flood.test.ts';
const NO_PRIORITY =
  'priority is gone (RFC 9113, 5.3.2). nghttp2 does not look into these frames any more';

/** Where Node and nghttp2 differ from h2spec, which tests RFC 7540, and why that is safe. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ['generic/2: Sends a WINDOW_UPDATE frame on half-closed (remote) stream', NO_DATA],
  ['generic/2: Sends a PRIORITY frame on half-closed (remote) stream', NO_DATA],
  [
    'http2/5.1.2: Sends HEADERS frames that causes their advertised concurrent stream limit to be exceeded',
    NO_DATA,
  ],
  [
    'http2/8.1: Sends a second HEADERS frame without the END_STREAM flag',
    'GET is answered with 405 at its first HEADERS, so the second may come too late: see the next test',
  ],
  [
    'http2/3.5: Sends invalid connection preface',
    'what does not begin as HTTP/2 is HTTP/1.1 here, is answered with its 400, and closed',
  ],
  ['http2/5.1: closed: Sends a DATA frame after sending RST_STREAM frame', IGNORED],
  ['http2/5.1: closed: Sends a HEADERS frame after sending RST_STREAM frame', IGNORED],
  ['http2/5.1: closed: Sends a DATA frame', IGNORED],
  ['http2/5.1: closed: Sends a HEADERS frame', IGNORED],
  ['http2/5.1.1: Sends stream identifier that is numerically smaller than previous', IGNORED],
  ['http2/5.3.1: Sends PRIORITY frame that depend on itself', NO_PRIORITY],
  ['http2/6.3: Sends a PRIORITY frame with 0x0 stream identifier', NO_PRIORITY],
  [
    'http2/6.7: Sends a PING frame with ACK',
    'an answer to a ping that nobody sent closes the connection: more than is asked for',
  ],
  [
    'http2/6.9.1: Sends multiple WINDOW_UPDATE frames increasing the flow control window to above 2^31-1 on a stream',
    'closes the connection, where the stream would do',
  ],
]);

test('h2spec passes, but for the exceptions that have a reason', { skip }, async t => {
  const { port, errors } = await serveEcho(t);
  const parts = await Promise.all(PARTS.map(cases => runH2spec(h2spec, port, cases)));
  const failed = parts.flatMap(part => [...part.failed]);
  const passed = parts.reduce((sum, part) => sum + part.passed, 0);
  t.diagnostic(`${passed} cases passed, ${failed.length} did not`);
  assert.equal(passed + failed.length, 143);
  const unexpected = failed.filter(name => !EXCEPTIONS.has(name));
  assert.deepEqual(await failedTwice(h2spec, port, unexpected), []);
  assert.deepEqual(errors, []);
  assert.equal((await call(openSession(t, port), 'x')).text, 'x');
});

test('h2spec passes what GET kept it from seeing, where such a connection answers GET, at its end and with DATA', {
  skip,
}, async t => {
  const port = await serveData(t);
  const cases = [
    'generic/2',
    'http2/5.1.2',
    'http2/6.5.3',
    'http2/6.9.1/1',
    'http2/6.9.2',
    'http2/8.1/1',
  ];
  const { failed, passed } = await runH2spec(h2spec, port, cases);
  assert.equal(passed + failed.size, 12);
  assert.deepEqual(await failedTwice(h2spec, port, [...failed]), []);
});

/**
 * Serves connections as `serveUnary` makes them. Everything is answered with one byte when all of
 * it has come.
 */
async function serveData(t: TestContext): Promise<number> {
  const answer = () => (stream: ServerHttp2Stream) => {
    stream.resume();
    stream.once('end', () => {
      stream.respond({ ':status': 200 });
      stream.end('x');
    });
  };
  const connections = new Connections(answer, {
    keepAlive: { everyMs: 30_000, timeoutMs: 10_000 },
    resets: { burst: 10_000, perSecond: 10_000 },
  });
  const { port, destroy, close } = await listen({
    host: '127.0.0.1',
    port: 0,
    protocols: {
      http2: socket => connections.accept(socket),
      http1: (_, response) => void response.end(),
    },
  });
  t.after(() => {
    destroy();
    return close();
  });
  return port;
}
