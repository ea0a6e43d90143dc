import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import type { ApiRequest, Cluster } from '#kubernetes/cluster.ts';
import { ClusterError } from '#kubernetes/cluster-error.ts';
import { EMPTY_FILE } from '#resources/parse/parsed-file.ts';
import { type StatusWrite, StatusWriter } from './status-writer.ts';

/** Returns a clock that the test moves. */
function manualClock() {
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  let time = 0;
  const after = (ms: number, run: () => void) => {
    const timer = { at: time + ms, run };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const step = () => new Promise<void>(resolve => setImmediate(resolve));
  async function pass(ms: number): Promise<void> {
    const end = time + ms;
    for (;;) {
      await step();
      const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      timers.delete(next);
      time = Math.max(time, next.at);
      next.run();
    }
    time = end;
  }
  return { after, pass, now: () => time };
}

function write(uid: string, message = 'm', resourceVersion = '1'): StatusWrite {
  const collection = {
    group: 'gateway.internal',
    version: 'v2',
    plural: 'mappings',
    namespace: 'shop',
  };
  const object = {
    collection,
    namespace: 'shop',
    name: uid,
    uid,
    resourceVersion,
    generation: 1,
    deleting: false,
    finalizers: [],
    status: undefined,
    parsed: EMPTY_FILE,
  };
  return { object, status: { conditions: [], problems: [{ severity: 'error', message }] } };
}

/**
 * Starts a writer. Its API answers with these statuses, one after the other, then 200, and records
 * the requests.
 */
function writerTo(...answers: readonly (number | 'away')[]) {
  const clock = manualClock();
  const asked: ApiRequest[] = [];
  const results: string[] = [];
  const told: string[] = [];
  let outdated: readonly StatusWrite[] = [];
  const left = answers.values();
  const call = async (request: ApiRequest) => {
    asked.push(request);
    const answer = left.next().value ?? 200;
    if (answer === 'away') throw new ClusterError('away');
    return {
      status: answer,
      body: answer === 200 ? { metadata: { name: 'x' } } : { message: 'no' },
    };
  };
  const cluster: Cluster = {
    server: 's',
    namespace: 'n',
    call,
    open: () => Promise.reject(),
    close: () => {},
  };
  const writer = new StatusWriter({
    cluster,
    outdated: () => outdated,
    wrote: result => results.push(result),
    log: pino({}, { write: line => void told.push(line) }),
    now: clock.now,
    after: clock.after,
    random: () => 0,
  });
  return {
    writer,
    asked,
    results,
    told,
    pass: clock.pass,
    set: (...writes: StatusWrite[]) => {
      outdated = writes;
    },
  };
}

test('nothing is written by one that does not lead', async () => {
  const { writer, asked, pass, set } = writerTo();
  set(write('a'));
  writer.stir();
  await pass(60_000);
  assert.equal(asked.length, 0);
});

test('a status is written for the version that it was made for, after a quiet moment', async () => {
  const { writer, asked, pass, set, results } = writerTo();
  set(write('a'));
  writer.lead(true);
  await pass(199);
  assert.equal(asked.length, 0);
  await pass(1);
  const [request] = asked;
  assert.equal(request?.method, 'PATCH');
  assert.equal(request?.path, '/apis/gateway.internal/v2/namespaces/shop/mappings/a/status');
  const { status } = write('a');
  assert.deepEqual(request?.body, { metadata: { uid: 'a', resourceVersion: '1' }, status });
  assert.deepEqual(results, ['written']);
});

test('what goes on changing is written once a second', async () => {
  const { writer, asked, pass, set } = writerTo();
  writer.lead(true);
  for (let at = 0; at < 30; at += 1) {
    set(write('a', `m${at}`));
    writer.stir();
    await pass(100);
  }
  assert.equal(asked.length, 3);
});

test('a thousand are written as fast as the API answers', async () => {
  const { writer, results, pass, set } = writerTo();
  set(...Array.from({ length: 1_000 }, (_, at) => write(`o${at}`)));
  writer.lead(true);
  await pass(200);
  for (let at = 0; at < 1_000; at += 1) await pass(0);
  assert.equal(results.filter(result => result === 'written').length, 1_000);
});

test('while the API is away, a thousand wait for one', async () => {
  const { writer, asked, pass, set } = writerTo(...Array.from({ length: 1_000 }, () => 429));
  set(...Array.from({ length: 1_000 }, (_, at) => write(`o${at}`)));
  writer.lead(true);
  await pass(60_000);
  assert.ok(asked.length > 16 && asked.length < 50, String(asked.length));
});

test('a conflict and an API that is away are tried again, a status that is wrong is not', async () => {
  const { writer, results, pass, set } = writerTo(409, 'away', 422);
  set(write('a'));
  writer.lead(true);
  await pass(5_000);
  assert.deepEqual(results, ['conflict', 'failed', 'refused']);
  writer.stir();
  await pass(5_000);
  assert.equal(results.length, 3);
});

test('what is not allowed is tried again, ever later, and told once', async () => {
  const { writer, asked, results, pass, set, told } = writerTo(
    ...Array.from({ length: 40 }, () => 403),
  );
  set(write('a'), write('b'));
  writer.lead(true);
  await pass(10_000);
  const early = asked.length;
  assert.ok(early >= 6 && early <= 20, String(early));
  assert.deepEqual(writer.refusals(), ['no']);
  for (let at = 0; at < 120; at += 1) {
    writer.stir();
    await pass(1_000);
  }
  const late = asked.length - early;
  assert.ok(late >= 4 && late <= 12, String(late));
  await pass(2_400_000);
  assert.deepEqual(results.slice(40), ['written', 'written']);
  assert.equal(told.length, 1);
  assert.deepEqual(writer.refusals(), []);
});

test('a status that does not stay is not written again and again', async () => {
  const { writer, asked, pass, set } = writerTo();
  set(write('a'));
  writer.lead(true);
  for (let at = 0; at < 100; at += 1) {
    set(write('a', 'm', String(at)));
    writer.stir();
    await pass(1_000);
  }
  assert.equal(asked.length, 1);
  await pass(600_000);
  writer.stir();
  await pass(1_000);
  assert.equal(asked.length, 2);
});

test('one that leads no more stops, with what is waiting too', async () => {
  const { writer, asked, pass, set } = writerTo('away');
  set(...Array.from({ length: 100 }, (_, at) => write(`o${at}`)));
  writer.lead(true);
  await pass(200);
  const before = asked.length;
  assert.ok(before > 0 && before < 100, String(before));
  writer.lead(false);
  await pass(60_000);
  assert.equal(asked.length, before);
});
