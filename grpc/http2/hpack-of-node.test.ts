import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2, { type OutgoingHttpHeaders } from 'node:http2';
import net, { type AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { pick, seededRandom } from '#protos/testing/random.ts';
import { FRAME } from './frame.ts';
import { FrameReader } from './frame-reader.ts';
import { HpackDecoder } from './hpack-decoder.ts';

const REQUESTS = 400;
const NAMES = [
  'x-a',
  'user-agent',
  'accept',
  'x-request-id',
  'te',
  'x-long-name-that-no-table-has',
  'via',
];

/** Reports the header lists that a client of Node sends, as we read them. */
async function listen(t: TestContext, heard: (list: readonly string[]) => void): Promise<number> {
  const decoder = new HpackDecoder({ maxFields: 100, maxBytes: 100_000 });
  const server = net.createServer(socket => {
    const reader = new FrameReader((type, flags, _stream, bytes, start, end) => {
      if (type !== FRAME.headers) return;
      assert.equal(flags & 0x2c, 4, 'neither padded, nor with a priority, nor in pieces');
      const { fields } = decoder.decode(bytes, start, end);
      heard(fields.map(({ name, value }) => `${name}: ${value}`));
    });
    socket.on('data', (chunk: Buffer) => reader.push(chunk));
    socket.write(Buffer.from('000000040000000000', 'hex'));
  });
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

function randomHeaders(random: () => number): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    ':method': 'POST',
    ':path': `/${text(random)}`,
    ':authority': 'x',
  };
  for (const name of NAMES)
    if (random() < 0.5) headers[name] = name === 'te' ? 'trailers' : text(random);
  return headers;
}

/** Returns a text, often an earlier one, of all characters that a field may have. */
function text(random: () => number): string {
  if (random() < 0.5) return `v${Math.floor(random() * 20)}`;
  const length = Math.floor(random() * pick([5, 50, 2_000], random));
  return Array.from({ length }, () => String.fromCharCode(0x21 + Math.floor(random() * 94))).join(
    '',
  );
}

test("the lists of Node's client are read as it sent them, whatever it keeps in its table", async t => {
  const random = seededRandom(3);
  const sent = Array.from({ length: REQUESTS }, () => randomHeaders(random));
  const { promise: all, resolve } = Promise.withResolvers<void>();
  const lists: string[] = [];
  const port = await listen(t, list => {
    lists.push(list.toSorted().join('\n'));
    if (lists.length === REQUESTS) resolve();
  });
  const session = http2.connect(`http://127.0.0.1:${port}`, { peerMaxConcurrentStreams: REQUESTS });
  t.after(() => session.destroy());
  session.on('error', () => {});
  for (const headers of sent) session.request(headers).on('error', () => {});
  await all;
  const expected = sent.map(headers =>
    Object.entries({ ...headers, ':scheme': 'http' })
      .map(([name, value]) => `${name}: ${value}`)
      .toSorted()
      .join('\n'),
  );
  assert.deepEqual(lists, expected);
});
