import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { knowledgeMethods } from '#ext-authz/knowledge.ts';
import { newSession } from '#ext-authz/oauth2/session/session.ts';
import type { SessionList } from '#ext-authz/oauth2/session/session-list.ts';
import { SessionRecords } from '#ext-authz/oauth2/session/session-records.ts';
import { RedisRecordStore } from '#ext-authz/store/redis-record-store.ts';
import { openedRedis } from '#redis/testing/open-redis.ts';
import { startRedis, whyNoRedis } from '#redis/testing/redis-server.ts';

const skip = whyNoRedis() ?? false;
/** As many as one list reads at once. */
const SESSIONS = 100;

test('the sessions of many Filters are read by no more calls at once than those of one', {
  skip,
}, async t => {
  const server = await startRedis();
  t.after(server.remove);
  const redis = await openedRedis(t, `redis://${server.address}`, { maxWaiting: 2 * SESSIONS });
  const parts = { store: new RedisRecordStore(redis), storeKey: createSecretKey(randomBytes(32)) };
  const lists = new Map<string, SessionList>();
  for (const realm of ['a', 'b', 'c', 'd']) {
    const records = new SessionRecords({ ...parts, realm, randomBytes, now: Date.now });
    for (let made = 0; made < SESSIONS; made += 1) await records.create(session(), Date.now());
    lists.set(realm, records.list);
  }
  const kit = { sessionLists: () => lists, providers: () => [], keySets: async () => [] };
  const [listSessions = assert.fail()] = knowledgeMethods(kit, 'redis');
  const peer = () => ({ address: '127.0.0.1', certificate: undefined });
  const call = { metadata: () => '', timeoutMs: undefined, peer };
  const answer = await listSessions.handle({ most: 10n }, call);
  assert.ok('filters' in answer && Array.isArray(answer.filters), JSON.stringify(answer));
  const counts = answer.filters.map(({ count, filter }) => `${filter} ${count}`);
  assert.deepEqual(counts, ['a 100', 'b 100', 'c 100', 'd 100']);
});

function session() {
  const idToken = { raw: 'e30.e30.', header: {}, claims: { sub: 'ada' } };
  const tokens = { accessToken: 'opaque', tokenType: 'Bearer' as const, idToken };
  const origin = { xsrf: 'x', pending: [], asked: [], sessionCookies: false };
  const said = { expiresInSeconds: 3_600, scope: undefined };
  return newSession(origin, { ...tokens, ...said }, 3_600_000, Date.now());
}
