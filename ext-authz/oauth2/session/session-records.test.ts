import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { openSqliteRecordStore } from '#ext-authz/store/sqlite-record-store.ts';
import { type HostileProvider, startHostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import { STORE_KEY, storeLogin } from '#ext-authz/testing/store-login.ts';
import { BoundedCache } from '#process/bounded-cache.ts';
import type { LoginFilter } from './login-filter.ts';
import type { Place } from './origin.ts';
import type { Presented } from './presented.ts';
import { PRESENTED_BOUNDS, presentedSession } from './presented-session.ts';
import { SessionRecords } from './session-records.ts';

const REALM = 'site.default';
const CLIENT = 'client';

let provider: HostileProvider;
let folder: string;
let store: RecordStore;
before(async () => {
  provider = await startHostileProvider();
  folder = await mkdtemp(join(tmpdir(), 'gateway-sessions-'));
  const clock = { now: Date.now, uptime: () => performance.now() };
  store = await openSqliteRecordStore(join(folder, 'records.sqlite'), clock);
});
after(async () => {
  await store.close();
  await rm(folder, { recursive: true });
  await provider.close();
});

/**
 * Opens the session of a new login, in a store that answers later, as one over the network does.
 * Notes which keys were read, and the versions that were known of them.
 */
async function openRemote() {
  const asked: string[] = [];
  const known: (string | undefined)[] = [];
  const remote = new Proxy(store, {
    get: (target, name: keyof RecordStore) => {
      if (name !== 'read') return target[name].bind(target);
      return async (key: string, version?: string) => {
        asked.push(key);
        known.push(version);
        return target.read(key, version);
      };
    },
  });
  const realm = JSON.stringify([REALM, provider.issuer, CLIENT]);
  const sessions = new SessionRecords({
    store: remote,
    realm,
    randomBytes,
    storeKey: STORE_KEY,
    now: Date.now,
  });
  const login = () =>
    storeLogin(store, { provider, realm: REALM, clientID: CLIENT, user: 'ada', now: Date.now() });
  const load = async () => {
    const loaded = await sessions.read((await login()).id);
    assert.ok(loaded !== undefined);
    asked.length = 0;
    return loaded;
  };
  return { asked, known, sessions, load };
}

test('requests of one turn share the answer of the store, each session its own', async () => {
  const { asked, load, sessions } = await openRemote();
  const [one, two] = [await load(), await load()];
  const reads = [one, two, one, one, two].map(loaded => sessions.reread(loaded));
  assert.deepEqual(asked, [one.key, two.key]);
  assert.deepEqual(await Promise.all(reads), [one, two, one, one, two]);
});

test('a request of the next turn does not, were the answer still on its way', async () => {
  const { asked, load, sessions } = await openRemote();
  const loaded = await load();
  const first = sessions.reread(loaded);
  await nextTurn();
  await store.remove(loaded.key);
  assert.equal(await sessions.reread(loaded), undefined);
  assert.equal(asked.length, 2);
  assert.equal(await first, loaded);
});

test('sessions with long tokens are remembered up to 32 MiB', async () => {
  const { known, load, sessions } = await openRemote();
  const { session } = await load();
  const long = { ...session, refreshToken: 'r'.repeat(1_000_000) };
  const made = Array.from({ length: 40 }, () => sessions.create(long, Date.now()));
  const presented = new BoundedCache<Presented>(PRESENTED_BOUNDS);
  const as = { session: 'session', xsrf: 'xsrf', presented };
  const filter = { sessions, hostOnly: as, shared: as } as unknown as LoginFilter;
  const cookies = (await Promise.all(made)).map(id => `session=${id}`);
  const present = (cookie = '') =>
    presentedSession(filter, {} as Place, { headers: new Map([['cookie', [cookie]]]) });
  for (const cookie of cookies) assert.equal((await present(cookie)).dead, false);
  assert.deepEqual(
    [cookies[0], cookies.at(-1)].map(cookie => presented.get(cookie ?? '') !== undefined),
    [false, true],
  );
  await present(cookies[0]);
  await present(cookies.at(-1));
  assert.deepEqual(
    known.slice(-2).map(version => version !== undefined),
    [false, true],
  );
});
