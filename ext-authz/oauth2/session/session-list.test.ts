import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { openSqliteRecordStore } from '#ext-authz/store/sqlite-record-store.ts';
import type { Session } from './session.ts';
import { SessionRecords } from './session-records.ts';

const HOUR = 3_600_000;
const START = Date.parse('2026-01-01T00:00:00Z');

let folder: string;
let store: RecordStore;
let now = START;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-list-'));
  const clock = { now: () => now, uptime: () => performance.now() };
  store = await openSqliteRecordStore(join(folder, 'records.sqlite'), clock);
});
after(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

function sessionOf(claims: object): Session {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const raw = `${part({ alg: 'none' })}.${part(claims)}.`;
  return {
    ...{ format: 1, xsrf: 'x', pending: [], accessToken: 'secret-token', accessTokenEnds: now },
    idToken: { raw, header: {}, claims: { ...claims } } as Session['idToken'],
    ...{ asked: [], granted: [], sessionCookies: false, ends: now + HOUR, cookieEnds: {} },
  };
}

const storeKey = createSecretKey(randomBytes(32));
const recordsOf = (realm: string) =>
  new SessionRecords({ store, storeKey, realm, randomBytes, now: () => now });

test('sessions are listed with their user, those that were seen last first', async () => {
  const records = recordsOf('listed');
  const id = await records.create(sessionOf({ sub: 'u1', email: 'ada@example.com' }), now);
  now += 1_000;
  await records.create(sessionOf({ sub: 'u2' }), now);
  const loaded = await records.read(id);
  assert.ok(loaded !== undefined);
  const { entries, more } = await records.list.list(10);
  assert.deepEqual(
    entries.map(({ name, user }) => [user, name]),
    [
      ['u2', 'u2'],
      ['u1', 'ada@example.com'],
    ],
  );
  assert.equal(more, false);
  assert.equal((await records.list.list(1)).more, true);
  now += 600_000;
  await records.read(id);
  await new Promise(setImmediate);
  const [first] = (await records.list.list(10)).entries;
  assert.deepEqual([first?.user, first?.begun, first?.seen], ['u1', now - 601_000, now]);
});

test('what has ended is no longer listed, whoever ended it', async () => {
  const records = recordsOf('ended');
  const made = [];
  for (const sub of ['a', 'a', 'b', 'c']) made.push(await records.create(sessionOf({ sub }), now));
  await records.remove(records.keyOf(made[3] ?? ''));
  assert.equal(await records.removeUser('a'), 2);
  assert.equal(await records.removeUser('a'), 0);
  assert.equal(await records.removeUser(''), 0);
  assert.deepEqual(
    (await records.list.list(10)).entries.map(({ user }) => user),
    ['b'],
  );
  now += HOUR + 1;
  assert.deepEqual((await records.list.list(10)).entries, []);
});

test('a session that was renewed for longer than it was made still ends with its user', async () => {
  const records = recordsOf('renewed');
  const id = await records.create(sessionOf({ sub: 'a' }), now);
  const before = await records.read(id);
  assert.ok(before !== undefined);
  now += HOUR - 1;
  assert.equal(await records.replace(before, { ...before.session, ends: now + HOUR }, now), true);
  now += HOUR - 1;
  assert.equal(await records.removeUser('a'), 1);
  assert.equal(await records.read(id), undefined);
});

test('the file has neither users nor tokens, and another key lists nothing and knows no session', async () => {
  const records = recordsOf('sealed');
  const known = sessionOf({ sub: 'somebody-known', email: 'known@example.com' });
  const id = await records.create(known, now);
  for (const file of ['records.sqlite', 'records.sqlite-wal'])
    assert.doesNotMatch(
      (await readFile(join(folder, file))).toString('latin1'),
      /somebody|known@|secret-token/,
    );
  const other = new SessionRecords({
    ...{ store, realm: 'sealed', randomBytes, now: () => now },
    storeKey: createSecretKey(randomBytes(32)),
  });
  assert.deepEqual((await other.list.list(10)).entries, []);
  assert.equal(await other.removeUser('somebody-known'), 0);
  assert.equal(await other.read(id), undefined);
  assert.ok(await records.read(id));
});
