import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { once } from 'node:events';
import { test } from 'node:test';
import type { FilterDecision } from '#ext-authz/http/filter-decision.ts';
import { answerOf, fieldOf, setBy } from '#ext-authz/jwt/testing/requests.ts';
import { as, clientProvider, ME } from '#ext-authz/oauth2/testing/client-provider.ts';
import type { TestCredentialFilter } from '#ext-authz/oauth2/testing/credential-filter.ts';
import { openSqliteStores } from '#ext-authz/store/testing/sqlite-stores.ts';
import { soon } from '#ext-authz/testing/soon.ts';
import { RefusedCredentials } from './refused-credentials.ts';

const { asked, grant, hostile, judge, open, refuse } = clientProvider();

/** Wrong secrets of one client. */
async function guess(run: TestCredentialFilter['run'], times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) await run(as('me', `${n}`));
}

/** Wrong secrets of as many clients. */
async function guessAsOthers(run: TestCredentialFilter['run'], times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) await run(as(`client ${n}`));
}

test('refused credentials are 403 without a challenge', async t => {
  const codes = ['invalid_client', 'invalid_grant', 'unauthorized_client'];
  for (const error of [...codes, 'access_denied', 'unauthorized', 'invalid_client_id']) {
    refuse(error);
    const { run } = await open(t);
    const answer = answerOf(await run(ME));
    assert.deepEqual([answer.status, fieldOf(answer, 'www-authenticate')], [403, undefined]);
  }
});

test('a 429 refuses no credentials, whatever code is beside it', async t => {
  refuse('access_denied', 429);
  const { run } = await open(t);
  for (let n = 0; n < 6; n += 1) await assert.rejects(run(as('me', `${n}`)), { status: 429 });
});

test('a refusal is remembered for 1 s, by other replicas too', async t => {
  refuse();
  const { run, replica, pass } = await open(t);
  const other = replica();
  for (const attempt of [run, run, other]) assert.equal(answerOf(await attempt(ME)).status, 403);
  assert.equal(asked(), 1);
  grant();
  pass(1_000);
  setBy(await run(ME));
});

test('after 5 refusals a minute for one client ID from one address the answer is 429 without asking', async t => {
  judge();
  const { run, replica, pass } = await open(t);
  for (let n = 0; n < 5; n += 1) assert.equal(answerOf(await run(as('me', `${n}`))).status, 403);
  for (const attempt of [run, replica()]) {
    const answer = answerOf(await attempt(as('me', 'next')));
    assert.deepEqual([answer.status, fieldOf(answer, 'retry-after')], [429, '60']);
  }
  assert.equal(answerOf(await run(ME)).status, 429);
  assert.equal(asked(), 5);
  setBy(await run(ME, [], '203.0.113.8'));
  assert.equal(answerOf(await run(as('other'))).status, 403);
  pass(60_000);
  setBy(await run(ME));
});

test('after 30 refusals a minute from one address, or one /64, the answer is 429', async t => {
  judge();
  const { run } = await open(t);
  const statuses: number[] = [];
  for (let n = 0; n < 32; n += 1)
    statuses.push(answerOf(await run(as(`client ${n}`), [], `2001:db8::${n.toString(16)}`)).status);
  assert.deepEqual(statuses, [...Array(30).fill(403), 429, 429]);
  assert.equal(asked(), 30);
  setBy(await run(ME, [], '2001:db8:0:1::1'));
});

/** When the client is told to come again. */
const waitOf = (outcome: FilterDecision) => fieldOf(answerOf(outcome), 'retry-after');

test('Retry-After is when the limit of the name ends, here and at other replicas, and a try passes then and not before', async t => {
  judge();
  const { run, replica, pass } = await open(t);
  const other = replica();
  await guess(run, 5);
  pass(19_500);
  assert.deepEqual([waitOf(await run(ME)), waitOf(await other(ME))], ['41', '41']);
  pass(37_500);
  assert.deepEqual([waitOf(await run(ME)), waitOf(await other(ME))], ['3', '3']);
  pass(2_999);
  assert.deepEqual([waitOf(await run(ME)), waitOf(await other(ME))], ['1', '1']);
  pass(1);
  for (const one of [run, other]) setBy(await one(ME));
});

test('Retry-After is when the last of the limits ends: of the name, of its network', async t => {
  judge();
  const { run, replica, pass } = await open(t);
  await guessAsOthers(run, 26);
  pass(20_000);
  await guess(run, 4);
  for (const one of [run, replica()]) assert.equal(waitOf(await one(ME)), '40');
  pass(40_000);
  assert.equal(answerOf(await run(as('me', 'fifth'))).status, 403);
  assert.equal(waitOf(await run(ME)), '20');
  setBy(await run(ME, [], '198.51.100.1'));
});

test('a client that guesses on while its network is limited waits for a minute from the fifth guess on', async t => {
  judge();
  const { run, pass } = await open(t);
  await guessAsOthers(run, 30);
  pass(50_000);
  const waits: (string | undefined)[] = [];
  for (let n = 0; n < 6; n += 1) waits.push(waitOf(await run(as('me', `${n}`))));
  assert.deepEqual(waits, ['10', '10', '10', '10', '60', '60']);
  pass(10_000);
  assert.equal(waitOf(await run(ME)), '50');
});

test('a clock that is set back makes no limit longer', async t => {
  judge();
  const { run, pass } = await open(t);
  await guess(run, 5);
  pass(-3_600_000);
  setBy(await run(ME));
});

test('a 429 is the same for credentials that are right, wrong, or known from elsewhere', async t => {
  judge();
  const { run, replica, pass } = await open(t);
  setBy(await run(ME, [], '198.51.100.1'));
  await guess(run, 5);
  for (const one of [run, replica(), replica()]) {
    pass(12_345);
    const [right, wrong] = [await one(ME), await one(as('me', 'wrong'))];
    assert.deepEqual(answerOf(right), answerOf(wrong));
    assert.equal(answerOf(right).status, 429);
  }
});

test('100 wrong secrets at the same time are tried 5 times, 100 client IDs 30 times', async t => {
  judge();
  const one = await open(t);
  await Promise.all(Array.from({ length: 100 }, (_, n) => one.run(as('me', `${n}`))));
  assert.equal(asked(), 5);
  hostile().reset();
  judge();
  const many = await open(t);
  await Promise.all(Array.from({ length: 100 }, (_, n) => many.run(as(`client ${n}`))));
  assert.equal(asked(), 30);
});

test('attempts at a provider that hangs hold up none of the same network at another', async t => {
  const stores = await openSqliteStores();
  t.after(() => stores.close());
  const storeKey = createSecretKey(Buffer.alloc(32, 1));
  const refusals = new RefusedCredentials({ store: stores.one, storeKey, now: Date.now });
  const attemptAt = (provider: string, name: string, ask: () => Promise<string>) =>
    refusals.attempt({ realm: provider, provider, name, network: '192.0.2.1' }, soon(), ask);
  const over = new AbortController();
  const late = once(AbortSignal.any([over.signal, soon()]), 'abort').then(() => 'late');
  const hanging = Array.from({ length: 31 }, (_, n) =>
    attemptAt('https://hangs.test', `client ${n}`, () => late),
  );
  const other = attemptAt('https://fine.test', 'me', async () => 'token');
  assert.equal(await Promise.race([other, late]), 'token');
  over.abort();
  assert.deepEqual(await Promise.all(hanging), Array(31).fill('late'));
});

test('cached tokens do not tell a guesser that he is right', async t => {
  judge();
  const { run } = await open(t);
  setBy(await run(ME, [], '198.51.100.1'));
  await guess(run, 5);
  assert.equal(answerOf(await run(ME)).status, 429);
  setBy(await run(ME, [], '198.51.100.1'));
});

test('a token in the store does not tell a guesser at another replica either', async t => {
  judge();
  const { run, replica } = await open(t);
  setBy(await run(ME, [], '198.51.100.1'));
  await guess(run, 5);
  assert.equal(answerOf(await replica()(ME)).status, 429);
  setBy(await replica()(ME, [], '198.51.100.1'));
});

test('a network at its limit does not learn of tokens that were got elsewhere', async t => {
  judge();
  const { run } = await open(t);
  setBy(await run(ME, [], '198.51.100.1'));
  await guessAsOthers(run, 31);
  assert.equal(answerOf(await run(ME)).status, 429);
  setBy(await run(ME, [], '198.51.100.1'));
});

test('a network at its limit still serves those who had a token there before, and no client guesses theirs', async t => {
  judge();
  const { run } = await open(t);
  setBy(await run(ME));
  await guessAsOthers(run, 31);
  setBy(await run(ME));
  for (let n = 0; n < 6; n += 1) assert.equal(answerOf(await run(as('me', `${n}`))).status, 429);
  assert.equal(answerOf(await run(ME)).status, 429);
});

test('one whose network is limited does not spoil it for another with the same credentials', async t => {
  judge();
  const { run } = await open(t);
  await guessAsOthers(run, 31);
  const [limited, fine] = await Promise.all([run(ME), run(ME, [], '198.51.100.1')]);
  assert.equal(answerOf(limited).status, 429);
  setBy(fine);
});
