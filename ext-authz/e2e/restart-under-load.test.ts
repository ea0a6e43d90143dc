import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { guardedPath, startCertifiedProvider, USER } from './certified-provider.ts';
import { edgeSession } from './edge-session.ts';

const PATH = '/kept';
/** How many visitors of each kind ask again and again while the service is away. */
const VISITORS = 4;
/**
 * The launcher waits a little before it restarts what died. The rest is Node and Envoy, on a busy
 * machine.
 */
const LONGEST_AWAY_MS = 60_000;

type Seen = { readonly sentAt: number; readonly status: number; readonly body: string };
type Crowd = { readonly seen: readonly Seen[]; readonly stop: () => Promise<void> };

describe('the service that checks logins, under load', () => {
  let system: System;
  let provider: { close(): Promise<void> } | undefined;
  let session: string;
  before(async () => {
    system = await startSystem();
    const at = { edge: system.edge, port: system.freePort(0) };
    provider = await startCertifiedProvider({ ...at, accessTokenTtl: 3_600, refreshes: false });
    system.write('kept.yaml', guardedPath('kept', at));
    await until(async () => (await request(system.edge, PATH)).status === 303 || undefined);
    session = await edgeSession(system.edge, PATH, USER);
  });
  after(async () => {
    await provider?.close();
    await system?.stop();
  });

  /** Visitors with this Cookie field, each of whom asks as soon as he was answered. */
  function crowd(t: TestContext, cookie: string | undefined): Crowd {
    const seen: Seen[] = [];
    let over = false;
    const visitor = async () => {
      while (!over) {
        const sentAt = performance.now();
        const headers = { 'x-user': 'root', ...(cookie !== undefined && { cookie }) };
        const { body, status } = await request(system.edge, PATH, { headers });
        seen.push({ sentAt, status, body });
      }
    };
    const visitors = Array.from({ length: VISITORS }, visitor);
    const stop = async () => {
      over = true;
      await Promise.all(visitors);
    };
    t.after(stop);
    return { seen, stop };
  }

  const statuses = ({ seen }: Crowd) => [...new Set(seen.map(({ status }) => status))].sort();
  const forged = () => session.replace(/(gateway_session[^=]*=)[0-9a-f]{8}/, '$1deadbeef');

  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    test(`is ended by ${signal}: no visitor gets in meanwhile, and those who were in are in again`, async t => {
      const [known, strangers, forgers] = [
        crowd(t, session),
        crowd(t, undefined),
        crowd(t, forged()),
      ];
      const crowds = [known, strangers, forgers];
      await until(() => crowds.every(({ seen }) => seen.length > 20) || undefined);
      const pid = await system.pid('ext-authz');
      assert.ok(pid !== undefined);
      process.kill(pid, signal);
      const endedAt = performance.now();
      await until(
        () => {
          for (const { seen } of [strangers, forgers])
            assert.ok(seen.every(({ status }) => status !== 200));
          return isBack(crowds, endedAt) || undefined;
        },
        LONGEST_AWAY_MS,
        'all are answered 503, then as before',
      );
      await Promise.all(crowds.map(({ stop }) => stop()));
      report(t, known, endedAt);
      assert.deepEqual(
        [statuses(known), statuses(strangers)],
        [
          [200, 503],
          [303, 503],
        ],
      );
      assert.deepEqual(statuses(forgers), [303, 503]);
      for (const { body, status } of known.seen)
        if (status === 200) assert.match(body, /"username":"ada"/);
      for (const { body, status } of crowds.flatMap(({ seen }) => seen))
        if (status === 503) assert.match(body, /^\{"message":"The service cannot be reached/);
    });
  }
});

/** Whether each was answered 503, and its last ones sent after `since` no longer. */
function isBack(crowds: readonly Crowd[], since: number): boolean {
  return crowds.every(({ seen }) => {
    const last = seen.slice(-20);
    const isAnswered = last.every(({ sentAt, status }) => sentAt > since && status !== 503);
    return isAnswered && seen.some(({ status }) => status === 503);
  });
}

function report(t: TestContext, { seen }: Crowd, endedAt: number): void {
  const away = seen.filter(({ status }) => status === 503);
  const lastAt = away.at(-1)?.sentAt ?? endedAt;
  t.diagnostic(
    `${seen.length} requests, ${away.length} answered 503, for ${Math.round(lastAt - endedAt)} ms`,
  );
}
