import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type HostileProvider, startHostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import { providerError } from '#ext-authz/testing/open-test-provider.ts';
import { soon } from '#ext-authz/testing/soon.ts';
import { countLookups } from '#process/testing/count-lookups.ts';
import { type HttpClient, openHttpClient } from './http-client.ts';

let hostile: HostileProvider;
before(async () => {
  hostile = await startHostileProvider();
});
after(() => hostile.close());
beforeEach(() => hostile.reset());

const open = () =>
  openHttpClient({ insecureTLS: false, renegotiateTLS: 'never', trustedCa: undefined });
const ask = (client: HttpClient, url = `${hostile.issuer}/userinfo`, signal = soon()) =>
  client.send({ what: 'the server', url, method: 'GET', headers: {}, signal });

test('at most 64 requests run at the same time, and the others wait and are answered', async t => {
  const client = open();
  t.after(() => client.close());
  const held = Promise.withResolvers<void>();
  const full = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  hostile.behave('userinfo', async () => {
    running += 1;
    most = Math.max(most, running);
    if (running === 64) full.resolve();
    await held.promise;
    running -= 1;
    return { body: {} };
  });
  const all = Array.from({ length: 100 }, () => ask(client));
  await full.promise;
  held.resolve();
  const answers = await Promise.all(all);
  assert.deepEqual([answers.length, most], [100, 64]);
});

test('requests to one name share a lookup', async t => {
  const client = open();
  t.after(() => client.close());
  await ask(client);
  const answers: Promise<unknown>[] = [];
  const url = `${hostile.issuer.replace('127.0.0.1', 'localhost')}/userinfo`;
  const begin = () => answers.push(...Array.from({ length: 20 }, () => ask(client, url)));
  assert.equal(await countLookups(begin), 1);
  await Promise.all(answers);
});

test('a request that waits for a connection ends with its own time', async t => {
  const client = open();
  t.after(() => client.close());
  const full = Promise.withResolvers<void>();
  hostile.behave('userinfo', () => {
    if (hostile.asked('userinfo').length === 64) full.resolve();
    return 'hang';
  });
  const hanging = Array.from({ length: 64 }, () => ask(client).catch(() => undefined));
  await full.promise;
  const control = new AbortController();
  const waiting = ask(client, undefined, control.signal);
  control.abort();
  await assert.rejects(waiting, providerError('timeout'));
  await client.close();
  await Promise.all(hanging);
});

test('closing ends what is on its way', async () => {
  const client = open();
  const arrived = Promise.withResolvers<void>();
  hostile.behave('userinfo', () => {
    arrived.resolve();
    return 'hang';
  });
  const outcome = ask(client);
  await arrived.promise;
  await client.close();
  await assert.rejects(outcome, providerError('unreachable'));
});

test('connections are used again', async t => {
  const client = open();
  t.after(() => client.close());
  for (let n = 0; n < 5; n += 1) {
    await ask(client);
    await new Promise(setImmediate);
  }
  assert.equal(hostile.connections(), 1);
});

test('an error names place and reason, not the query', async t => {
  const client = open();
  t.after(() => client.close());
  hostile.behave('userinfo', () => 'hang up');
  const place = `the server ${hostile.issuer}/userinfo: no answer`;
  await assert.rejects(ask(client), providerError('unreachable', place));
  const gone = ask(client, 'http://127.0.0.1:1/x?token=secret');
  await assert.rejects(
    gone,
    error => providerError('unreachable', '/x: ')(error) && !String(error).includes('secret'),
  );
});

test('headers over 16 KiB are refused', async t => {
  const client = open();
  t.after(() => client.close());
  hostile.behave('userinfo', () => ({ headers: { 'x-long': 'x'.repeat(20_000) } }));
  await assert.rejects(ask(client), providerError('unreachable', 'UND_ERR_HEADERS_OVERFLOW'));
});
