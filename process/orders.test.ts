import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { encodeAny } from '#protos/encode.ts';
import type { JsonObject } from '#protos/json.ts';
import { ORDER } from '#protos/type-url.ts';
import { MOST_OUTCOMES } from './order-outcomes.ts';
import { type Order, type OrderTaker, TakenOrders } from './orders.ts';

function takenBy(taker: OrderTaker) {
  const counts = { changed: 0, acked: 0 };
  const taken = new TakenOrders(taker, () => (counts.changed += 1));
  const nack = () => assert.fail('orders are never rejected');
  const take = async (
    given: Readonly<Record<string, JsonObject | null>>,
    removed: string[],
    complete = true,
  ) => {
    const changed = Object.entries(given).map(([name, order]) => ({
      ...{ name, version: '1' },
      any: order === null ? BROKEN : encodeAny({ '@type': ORDER, ...order }),
    }));
    const ack = () => {
      counts.acked += 1;
    };
    taken.take({ typeUrl: ORDER, complete, changed, removed, ack, nack });
    await turn();
  };
  return { counts, take, outcomes: () => taken.outcomes.map(each => Object.values(each).join()) };
}

const BROKEN = { type_url: ORDER, value: Buffer.from([255]) };
const DRAIN = { drain: { address: '::1', port: 1 } };

test('a service reads what was ordered, and tells what became of it', async () => {
  const orders: Order[] = [];
  const { counts, outcomes, take } = takenBy({
    given: (_name, order) => {
      orders.push(order);
      if ('drain' in order) throw new Error('it serves no instances');
      return 'done';
    },
  });
  const sessionEnd = { session_end: { filter: 'default/login', user: 'ada' } };
  const reset = { counter_reset: { domain: 'd', labels: [{ key: 'k', value: '' }] } };
  const renewal = { hostname: 'a.example.com', serial: '1f', revoke: true };
  const renew = { certificate_renewal: renewal };
  const any = { hostname: 'a.example.com', revoke: false };
  const renewAny = { certificate_renewal: any };
  const given = { a: sessionEnd, b: reset, c: DRAIN, d: {}, e: null, f: renew, g: renewAny };
  await take(given, ['gone']);
  assert.deepEqual(orders, [
    { sessionEnd: { filter: 'default/login', user: 'ada' } },
    { counterReset: { domain: 'd', labels: [{ key: 'k', value: '' }] } },
    { drain: { address: '::1', port: 1 } },
    { certificateRenewal: renewal },
    { certificateRenewal: any },
  ]);
  const unread = 'true,it cannot read this order. Is it of an earlier version?';
  assert.deepEqual(outcomes().sort(), [
    'a,false,false,done',
    'b,false,false,done',
    'c,false,true,it serves no instances',
    `d,false,${unread}`,
    `e,false,${unread}`,
    'f,false,false,done',
    'g,false,false,done',
  ]);
  assert.deepEqual(counts, { changed: 7, acked: 1 });
});

test('an order that did something is forgotten with it, and the end of one that lasted is told', async () => {
  const { outcomes, take } = takenBy({
    given: () => 'left out',
    withdrawn: name => (name === 'drain' ? 'back' : undefined),
  });
  await take({ drain: DRAIN, once: DRAIN }, []);
  await take({}, ['drain', 'once']);
  assert.deepEqual(outcomes(), ['drain,true,false,back']);
  await take({ drain: DRAIN }, []);
  assert.deepEqual(outcomes(), ['drain,false,false,left out']);
});

test('a service learns when it knows all orders, after each part that completes them', async () => {
  const seen: string[] = [];
  const { take } = takenBy({
    given: name => {
      seen.push(name);
      return 'done';
    },
    withdrawn: name => {
      seen.push(`no ${name}`);
      return 'back';
    },
    allKnown: () => seen.push('all'),
  });
  await take({}, []);
  await take({ a: DRAIN }, [], false);
  await take({ b: DRAIN }, ['a']);
  assert.deepEqual(seen, ['all', 'a', 'no a', 'b', 'all']);
});

test('the newest outcomes are remembered', async () => {
  const { outcomes, take } = takenBy({ given: async name => name });
  const many = Array.from({ length: MOST_OUTCOMES + 5 }, (_, at) => [`${at}`, DRAIN] as const);
  await take(Object.fromEntries(many), []);
  assert.equal(outcomes().length, MOST_OUTCOMES);
  assert.match(outcomes().at(-1) ?? '', /^54,/);
});
