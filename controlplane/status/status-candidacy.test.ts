import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCandidacy } from './status-candidacy.ts';

/** Starts a candidacy with a clock of its own. */
function started() {
  const timers = new Map<object, { readonly at: number; readonly callback: () => void }>();
  let now = 0;
  const leads: ((leading: boolean) => void)[] = [];
  const events: string[] = [];
  const released = Promise.withResolvers<void>();
  const candidacy = openCandidacy({
    lead(onLeading) {
      events.push(`${now} stands`);
      leads.push(onLeading);
      return {
        async close() {
          events.push(`${now} leaves`);
          onLeading(false);
          await released.promise;
        },
      };
    },
    onLeading: leading => void events.push(`${now} ${leading ? 'leads' : 'leads no more'}`),
    after(ms, callback) {
      const timer = {};
      timers.set(timer, { at: now + ms, callback });
      return () => void timers.delete(timer);
    },
  });
  const passTo = (time: number) => {
    for (;;) {
      const [next] = [...timers]
        .filter(([, { at }]) => at <= time)
        .sort(([, a], [, b]) => a.at - b.at);
      if (next === undefined) break;
      now = next[1].at;
      timers.delete(next[0]);
      next[1].callback();
    }
    now = time;
  };
  const release = () => {
    events.push(`${now} gives it up`);
    released.resolve();
  };
  return {
    candidacy,
    events,
    passTo,
    leads,
    release,
    lead: (leading: boolean) => leads.at(-1)?.(leading),
  };
}

test('one with proxies stands at once, and stays', () => {
  const { candidacy, events, passTo, lead } = started();
  candidacy.proxies(true);
  lead(true);
  passTo(1_000_000);
  assert.deepEqual(events, ['0 stands', '0 leads']);
});

test('one without proxies waits, leads for a while, and leaves the Lease to others for a moment', () => {
  const { events, passTo, lead } = started();
  passTo(5_000);
  lead(true);
  passTo(30_000);
  assert.deepEqual(events, [
    '5000 stands',
    '5000 leads',
    '25000 leads no more',
    '25000 leaves',
    '30000 stands',
  ]);
});

test('one that gets proxies stays, and one that loses them stays a while', () => {
  const { candidacy, events, passTo, lead } = started();
  passTo(5_000);
  lead(true);
  passTo(24_000);
  candidacy.proxies(true);
  passTo(100_000);
  assert.deepEqual(events, ['5000 stands', '5000 leads']);
  candidacy.proxies(false);
  passTo(119_999);
  assert.equal(events.length, 2);
  passTo(120_000);
  assert.deepEqual(events.slice(2), ['120000 leads no more', '120000 leaves']);
  candidacy.proxies(true);
  assert.equal(events.at(-1), '120000 stands');
});

test('the end of an earlier time says nothing of the present one', () => {
  const { candidacy, events, passTo, lead, leads } = started();
  passTo(5_000);
  lead(true);
  passTo(25_000);
  candidacy.proxies(true);
  lead(true);
  leads[0]?.(false);
  assert.equal(events.at(-1), '25000 leads');
});

test('one that does not lead waits for the Lease as long as it takes, and none stands once it is closed', async () => {
  const { candidacy, events, passTo, release } = started();
  passTo(500_000);
  assert.deepEqual(events, ['5000 stands']);
  release();
  await candidacy.close();
  candidacy.proxies(true);
  passTo(900_000);
  assert.deepEqual(events, ['5000 stands', '500000 gives it up', '500000 leaves']);
});

test('one that is closed while it leaves the Lease has given it up when that is done', async () => {
  const { candidacy, events, passTo, lead, release } = started();
  passTo(5_000);
  lead(true);
  passTo(25_000);
  const closed = candidacy.close().then(() => events.push('closed'));
  setImmediate(release);
  await closed;
  assert.deepEqual(events.slice(2), [
    '25000 leads no more',
    '25000 leaves',
    '25000 gives it up',
    'closed',
  ]);
});
