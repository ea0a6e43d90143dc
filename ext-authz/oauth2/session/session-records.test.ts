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
 * Counts how often it was read.
 */
async function openRemote() {
  const asked: string[] = [];
  const remote = new Proxy(store, {
    get: (target, name: keyof RecordStore) => {
      if (name !== 'read') return target[name].bind(target);
      return async (key: string, known?: string) => {
        asked.push(key);
        return target.read(key, known);
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
  return { asked, sessions, load };
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
