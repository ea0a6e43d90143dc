import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrderOutcome } from '#process/order-outcomes.ts';
import { encodeReport } from '#process/report.ts';
import { CLUSTER, ORDER } from '#protos/type-url.ts';
import type { StreamStatus } from '#xds/discovery-observer.ts';
import { OrderAnswers } from './order-answers.ts';

const DONE: OrderOutcome = { order: 'o', withdrawn: false, failed: false, text: 'done' };
const UNKNOWN = { sent: undefined, acked: undefined, nack: undefined, at: undefined };

function stream(id: number, group: string, typeUrl = ORDER): StreamStatus {
  const types = { [typeUrl]: UNKNOWN };
  const served = { variant: 'delta', typeUrl: undefined, standing: 'settled' } as const;
  return { id, node: `node-${id}`, group, address: '127.0.0.1:1', types, ...served };
}

function answersOf(...streams: readonly StreamStatus[]) {
  let late = () => {};
  const answers = new OrderAnswers({
    streams: () => streams,
    after: (_ms, run) => {
      late = run;
      return () => {};
    },
  });
  const told = (id: number, ...outcomes: readonly OrderOutcome[]) =>
    answers.take(id, encodeReport([], outcomes));
  const ask = async (withdrawn = false) => {
    const all = await answers.of({ group: 'sds', name: 'o', withdrawn });
    return all.map(({ node, outcome, text }) => `${node} ${outcome} ${text}`);
  };
  return { answers, ask, told, pass: () => late() };
}

test('each process that takes orders answers, and no other is waited for', async () => {
  const { answers, ask, told } = answersOf(
    stream(1, 'sds'),
    stream(2, 'sds'),
    stream(3, 'sds', CLUSTER),
    stream(4, 'ext-authz'),
  );
  assert.deepEqual([answers.isHeard('sds'), answers.isHeard('edge')], [true, false]);
  const asked = ask();
  told(1, DONE);
  answers.take(1, undefined);
  told(2, { ...DONE, order: 'another' }, { ...DONE, failed: true, text: 'the store failed' });
  assert.deepEqual(await asked, ['node-1 done done', 'node-2 failed the store failed']);
});

test('one that does not answer in time is named', async () => {
  const { ask, pass, told } = answersOf(stream(1, 'sds'), stream(2, 'sds'));
  const asked = ask();
  told(2, DONE);
  pass();
  const [silent, done] = await asked;
  assert.match(silent ?? '', /^node-1 silent it does not answer/);
  assert.equal(done, 'node-2 done done');
});

test('what was answered to a drain is no answer to its end', async () => {
  const { ask, told } = answersOf(stream(1, 'sds'));
  told(1, DONE);
  assert.deepEqual(await ask(), ['node-1 done done'], 'it was done already');
  const asked = ask(true);
  told(1, DONE);
  told(1, { ...DONE, withdrawn: true, text: 'back' });
  assert.deepEqual(await asked, ['node-1 done back']);
});

test('where nobody takes orders there is no answer, at once', async () => {
  assert.deepEqual(await answersOf(stream(1, 'sds', CLUSTER)).ask(), []);
});
