import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { Deadlines } from './deadlines.ts';
import { RedisUnavailable } from './redis-unavailable.ts';

const now = () => performance.now();
const never = () => new Promise<never>(() => {});

async function connectedSockets(t: TestContext): Promise<readonly [Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const near = connect(address.port, '127.0.0.1');
  const [far] = await once(server, 'connection');
  assert.ok(far instanceof Socket);
  t.after(() => {
    near.destroy();
    server.close();
  });
  return [near, far];
}

describe('calls with a deadline', () => {
  test('give what their work gives, value or error', async () => {
    const calls = new Deadlines(1000, now);
    assert.equal(await calls.race(Promise.resolve(7)), 7);
    await assert.rejects(calls.race(Promise.reject(new TypeError('x'))), TypeError);
    assert.equal(calls.waiting, 0);
  });

  test('end in time, each its own', async () => {
    const calls = new Deadlines(30, now);
    const begin = now();
    const first = calls.race(never()).catch(error => ({ error, at: now() - begin }));
    await new Promise(resolve => setTimeout(resolve, 15));
    const second = calls.race(never()).catch(error => ({ error, at: now() - begin }));
    const [a, b] = await Promise.all([first, second]);
    assert.ok(a.error instanceof RedisUnavailable);
    assert.equal(a.error.message, 'Redis: no answer within 30 ms');
    assert.ok(a.at >= 29 && b.at >= 44, `${a.at} ${b.at}`);
    assert.ok(a.at < b.at);
    assert.equal(calls.waiting, 0);
  });

  test('drop what comes late, an error too', async () => {
    const calls = new Deadlines(5, now);
    const late = Promise.withResolvers<number>();
    await assert.rejects(calls.race(late.promise), RedisUnavailable);
    late.reject(new Error('late'));
    await new Promise(resolve => setImmediate(resolve));
  });

  test('count an answer that has come while we were busy', async t => {
    const [near, far] = await connectedSockets(t);
    const calls = new Deadlines(10, now);
    const answer = calls.race(once(near, 'data').then(() => 'in time'));
    far.write('x');
    const busyUntil = now() + 50;
    while (now() < busyUntil);
    assert.equal(await answer, 'in time');
  });

  test('are drained when the last has ended', async () => {
    const calls = new Deadlines(1000, now);
    const work = Promise.withResolvers<void>();
    const order: string[] = [];
    void calls.race(work.promise).then(() => order.push('call'));
    const drained = calls.drained().then(() => order.push('drained'));
    work.resolve();
    await drained;
    assert.deepEqual(order.sort(), ['call', 'drained']);
    await calls.drained();
  });

  test('end at once when closed', async () => {
    const calls = new Deadlines(60_000, now);
    const call = calls.race(never());
    calls.close();
    await assert.rejects(call, /closed by this process/);
    assert.equal(calls.waiting, 0);
  });

  test('a hundred thousand need one timer and are forgotten afterwards', async () => {
    const calls = new Deadlines(20, now);
    const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length;
    const before = timers();
    const all = Array.from({ length: 100_000 }, (_, index) =>
      calls.race(index % 2 === 0 ? Promise.resolve('yes') : never()).catch(() => 'no'),
    );
    assert.equal(timers(), before + 1);
    assert.equal((await Promise.all(all)).filter(answer => answer === 'no').length, 50_000);
    assert.equal(calls.waiting, 0);
  });
});
