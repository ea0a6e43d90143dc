import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { after, before, describe, type TestContext, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { type Sample, startSample, type Who } from '../testing/sample-process.ts';

/** As long as whatever is only waited for may take on a slow machine, in ms. */
const PATIENCE_MS = 30_000;
/** So long that a request is still under way when a busy machine gets to what comes next. */
const UNDER_WAY_MS = 3_000;

/** For as long as the test runs. */
function start(t: TestContext, environment: Readonly<Record<string, string>>): Sample {
  const sample = startSample(environment);
  t.after(() => sample.signal('SIGKILL'));
  return sample;
}

async function startReady(t: TestContext, workers: number): Promise<Sample> {
  const sample = start(t, { WORKERS: String(workers) });
  await sample.ready();
  return sample;
}

/** Returns which process each worker is now, by its number. */
async function everybody(sample: Sample, workers: number): Promise<ReadonlyMap<number, Who>> {
  const seen = new Map<number, Who>();
  await until(
    async () => {
      const who = await sample.who();
      seen.set(who.number, who);
      return seen.size === workers || undefined;
    },
    PATIENCE_MS,
    'an answer of each worker',
  );
  return seen;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const allGone = (pids: readonly number[]) =>
  until(() => !pids.some(isAlive) || undefined, PATIENCE_MS, 'the end of all workers');

const pidsOf = async (sample: Sample, workers: number) =>
  [...(await everybody(sample, workers)).values()].map(({ pid }) => pid);

const countedBy = async (sample: Sample) =>
  /^counted_total (\d+)$/m.exec((await sample.get('/metrics')).body)?.[1];

describe('four workers', () => {
  let sample: Sample;
  before(async () => {
    sample = startSample({ WORKERS: '4' });
    await sample.ready();
  });
  after(() => sample.signal('SIGKILL'));

  test('are given connections in turn', async () => {
    const tally = new Map<number, number>();
    const ends: Promise<string>[] = [];
    for (let connection = 0; connection < 8; connection += 1) {
      const { pid, end } = await sample.late(UNDER_WAY_MS);
      tally.set(pid, (tally.get(pid) ?? 0) + 1);
      ends.push(end);
    }
    assert.deepEqual([...tally.values()], [2, 2, 2, 2]);
    assert.deepEqual(new Set(await Promise.all(ends)), new Set(['answered']));
  });

  test('name themselves in the log', async () => {
    const linesWith = (text: string) => sample.lines.filter(({ msg }) => msg === text);
    await until(() => linesWith('all workers listen').length === 1 || undefined, PATIENCE_MS);
    const told = linesWith('listening').map(({ worker }) => worker);
    assert.deepEqual(told.sort(), [1, 2, 3, 4]);
  });

  test('share what the process that leads them keeps', async () => {
    const told = await Promise.all(
      Array.from({ length: 6 }, async () => (await sample.get('/share')).body),
    );
    assert.deepEqual(told.sort(), ['1', '2', '3', '4', '5', '6']);
  });

  test('tell the metrics of all, whichever one is asked', async () => {
    for (let count = 0; count < 7; count += 1) await sample.get('/count');
    for (let worker = 0; worker < 4; worker += 1) assert.equal(await countedBy(sample), '7');
  });

  test('are ready when all are', async () => {
    assert.deepEqual(await sample.get('/readyz'), { status: 200, body: 'ready\n' });
  });

  test('survive when one of them is killed: another takes its place, and counts go on', async () => {
    const before = await everybody(sample, 4);
    const victim = before.get(2)?.pid ?? 0;
    const slow = await Promise.all(Array.from({ length: 12 }, () => sample.late(UNDER_WAY_MS)));
    process.kill(victim, 'SIGKILL');
    for (const { pid, end } of slow) assert.equal(await end, pid === victim ? 'cut' : 'answered');
    assert.ok(slow.some(({ pid }) => pid === victim));
    const isBack = async () => {
      const who = await sample.who();
      return who.number === 2 && who.pid !== victim ? who : undefined;
    };
    const successor = await until(isBack, PATIENCE_MS, 'the second worker again');
    assert.equal(successor.late, true, 'it listens when it can answer');
    const now = await everybody(sample, 4);
    for (const number of [1, 3, 4]) assert.equal(now.get(number)?.pid, before.get(number)?.pid);
    const told = sample.lines.filter(({ msg }) => msg === 'a worker ended, another is started');
    assert.deepEqual(
      told.map(({ againInMs, signal, worker }) => ({ againInMs, signal, worker })),
      [{ againInMs: 200, signal: 'SIGKILL', worker: 2 }],
    );
    assert.deepEqual(await countedBy(sample), '7');
    assert.equal((await sample.get('/readyz')).status, 200);
  });

  test('leave no request hanging that arrives when one of them dies', async () => {
    for (const number of [1, 4, 2]) {
      const victim = (await everybody(sample, 4)).get(number)?.pid ?? 0;
      process.kill(victim, 'SIGKILL');
      const asked = Array.from({ length: 40 }, () =>
        sample.get('/who').then(
          answer => answer.status,
          () => 'cut',
        ),
      );
      const outcomes = await Promise.all(asked);
      assert.ok(outcomes.filter(outcome => outcome === 200).length >= 30, String(outcomes));
    }
  });

  test('show the metrics of one that hangs as they were, and are ended with it', async t => {
    const pids = await everybody(sample, 4);
    const stuck = pids.get(3)?.pid ?? 0;
    t.after(() => isAlive(stuck) && process.kill(stuck, 'SIGKILL'));
    process.kill(stuck, 'SIGSTOP');
    // One of two connections may go to the worker that hangs.
    assert.equal(await Promise.any([countedBy(sample), countedBy(sample)]), '7');
    sample.signal('SIGTERM');
    assert.deepEqual(await sample.end, { code: 0, signal: null });
    await allGone([...pids.values()].map(({ pid }) => pid));
  });
});

describe('workers', { concurrency: 3 }, () => {
  test('one worker is the process itself', async t => {
    const sample = await startReady(t, 1);
    assert.deepEqual(await sample.who(), { pid: sample.pid });
    sample.signal('SIGTERM');
    assert.deepEqual(await sample.end, { code: 0, signal: null });
  });

  test('one that hangs is ended, and another takes its place', async t => {
    const sample = await startReady(t, 2);
    const stuck = (await everybody(sample, 2)).get(2)?.pid ?? 0;
    process.kill(stuck, 'SIGSTOP');
    const told = await until(
      () => sample.lines.find(({ msg }) => msg === 'a worker ended, another is started'),
      2 * PATIENCE_MS,
      'the end of a worker that hangs',
    );
    assert.equal(told.signal, 'SIGKILL, since it answered nothing');
    const successor = (await everybody(sample, 2)).get(2);
    assert.notEqual(successor?.pid, stuck);
  });

  for (const how of ['SIGINT', 'disconnect', 'SIGTERM to each, as by a terminal'] as const)
    test(`${how}: what is under way ends, then all do`, async t => {
      const sample = await startReady(t, 2);
      const pids = await pidsOf(sample, 2);
      const slow = await Promise.all(Array.from({ length: 4 }, () => sample.late(300)));
      if (how === 'disconnect') sample.leave();
      else if (how === 'SIGINT') sample.signal(how);
      else for (const pid of [...pids, sample.pid]) process.kill(pid, 'SIGTERM');
      for (const { end } of slow) assert.equal(await end, 'answered');
      assert.deepEqual(await sample.end, { code: 0, signal: null });
      await allGone(pids);
    });

  for (const how of ['killed outright', 'signalled twice'] as const)
    test(`no worker outlives the process that leads it, which is ${how}`, async t => {
      const sample = await startReady(t, 2);
      const pids = await pidsOf(sample, 2);
      const slow = await sample.late(PATIENCE_MS);
      sample.signal(how === 'killed outright' ? 'SIGKILL' : 'SIGTERM');
      if (how === 'signalled twice') {
        await until(
          () => sample.lines.some(({ msg }) => msg === 'stopping') || undefined,
          PATIENCE_MS,
        );
        sample.signal('SIGTERM');
      }
      assert.equal((await sample.end).code, null);
      assert.equal(await slow.end, 'cut');
      await allGone(pids);
    });

  test('what keeps the first worker from listening ends all, with one sentence', async t => {
    const holder = net.createServer().listen(0, '127.0.0.1');
    t.after(() => holder.close());
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const sample = start(t, { WORKERS: '3', ADDRESS: `127.0.0.1:${port}` });
    assert.deepEqual(await sample.end, { code: 1, signal: null });
    assert.match(await sample.complaint, /^sample: ADDRESS: .*EADDRINUSE.*\n$/);
  });

  test('a configuration that cannot be read ends all, with one sentence', async t => {
    const sample = start(t, { WORKERS: 'many' });
    assert.deepEqual(await sample.end, { code: 1, signal: null });
    assert.equal(
      await sample.complaint,
      'sample: WORKERS is "many": want an integer from 1 to 256\n',
    );
  });
});
