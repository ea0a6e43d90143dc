import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { UntakenResponses } from './untaken-responses.ts';

const PIECE = Buffer.alloc(40 * 1024);
const NEVER = 2 ** 31 - 1;
const WINDOW_OF_ONE_PIECE = { initialWindowSize: PIECE.length + 1 };

/**
 * Starts a server that keeps at most 100 KiB, and answers each call with so many pieces. Returns
 * what connects a client whose windows are closed, and what looks at all calls.
 */
async function start(t: TestContext) {
  const untaken = new UntakenResponses(100 * 1024, NEVER);
  const server = http2.createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const connect = () => {
    const session = http2.connect(`http://127.0.0.1:${port}`, {
      settings: { initialWindowSize: 0 },
    });
    t.after(() => session.destroy());
    const begin = async (pieces: number): Promise<http2.ServerHttp2Stream> => {
      session.request({ ':method': 'GET' }).on('error', () => {});
      const [stream] = (await once(server, 'stream')) as [http2.ServerHttp2Stream];
      stream.on('error', () => {}).respond();
      untaken.watch(stream);
      for (let piece = 0; piece < pieces; piece++) stream.write(PIECE);
      return stream;
    };
    return { session, begin };
  };
  return { connect, look: () => untaken.look() };
}

function closedOf(...streams: readonly http2.ServerHttp2Stream[]): readonly boolean[] {
  return streams.map(({ closed }) => closed);
}

test('when too much is not taken, the calls that have waited longest end', async t => {
  const { connect, look } = await start(t);
  const { begin } = connect();
  const calls = [await begin(1), await begin(1), await begin(1)] as const;
  look();
  assert.deepEqual(closedOf(...calls), [false, false, false]);
  look();
  assert.deepEqual(closedOf(...calls), [true, false, false]);
  assert.equal(calls[0].rstCode, http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  look();
  assert.deepEqual(closedOf(...calls), [true, false, false]);
});

test('a call whose peer goes on taking does not end', async t => {
  const { connect, look } = await start(t);
  const slow = connect();
  const taking = await slow.begin(2);
  const stuck = await connect().begin(2);
  look();
  slow.session.settings(WINDOW_OF_ONE_PIECE);
  await until(
    () => taking.writableLength === PIECE.length || undefined,
    5_000,
    'a piece that is taken',
  );
  look();
  assert.deepEqual(closedOf(taking, stuck), [false, true]);
});

test('a call that has ended is not counted', async t => {
  const { connect, look } = await start(t);
  const { begin } = connect();
  const gone = await begin(2);
  const left = await begin(2);
  look();
  const closed = once(gone, 'close');
  gone.destroy();
  await closed;
  look();
  assert.deepEqual(closedOf(left), [false]);
});
