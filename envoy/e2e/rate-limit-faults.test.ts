import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { editService } from '#ratelimit-service/e2e/edit-service.ts';
import {
  document,
  type LimitedSystem,
  labelled,
  limits,
  PATIENT_MS,
  patientService,
  type Services,
  startLimited,
} from '#ratelimit-service/e2e/limited-system.ts';
import { type ServiceProcess, startService } from '#ratelimit-service/e2e/service-process.ts';
import { withinOneWindow } from '#ratelimit-service/e2e/within-one-window.ts';
import { startLoad } from './load.ts';
import { until } from './until.ts';

const CLIENT = { client: { header: 'X-Client', omit_if_not_present: true } };

function resources({ rateLimit, upstream }: Services): Record<string, string> {
  return {
    'service.yaml': patientService(rateLimit),
    'mappings.yaml': ['closed', 'load', 'version']
      .map(name => labelled(name, upstream, [name]))
      .concat(labelled('counted', upstream, ['counted', CLIENT]))
      .join(''),
    'limits.yaml': limitsWith(5, 1),
  };
}

/**
 * Returns the limits that are edited: the rate of a client at `/counted/`, and the header of the
 * limit of `/version/`.
 */
function limitsWith(rate: number, version: number): string {
  const injectResponseHeaders = [{ name: 'X-Version', value: String(version) }];
  return limits('limits', [
    { pattern: [{ generic_key: 'closed' }], rate: 0, unit: 'hour' },
    { pattern: [{ generic_key: 'load' }], rate: 1_000_000, unit: 'hour' },
    { pattern: [{ generic_key: 'version' }], rate: 1_000_000, unit: 'hour', injectResponseHeaders },
    { pattern: [{ generic_key: 'counted' }, { client: '*' }], rate, unit: 'hour' },
  ]);
}

describe('rate limits', () => {
  let system: LimitedSystem;
  before(async () => {
    system = await startLimited(resources);
  });
  after(() => system.stop());

  const counted = (client: string) =>
    system.statusOf('/counted/', { headers: { 'x-client': client } });

  /** Edits the limits, and waits until the edit is in force. */
  async function edit(rate: number, version: number): Promise<void> {
    system.write('limits.yaml', limitsWith(rate, version));
    await until(async () => {
      return (await system.ask('/version/')).headers['x-version'] === String(version) || undefined;
    });
  }

  const ask = (service: string, timeout_ms: number, failure_mode_deny: boolean) =>
    editService(system, { service, timeout_ms, failure_mode_deny });

  test('that are edited under load hold without a restart, and keep what they counted', () =>
    withinOneWindow(async client => {
      await edit(5, 1);
      const pid = await system.pid('ratelimit-service');
      const load = startLoad({ base: system.edge, path: '/load/', connections: 4, perSecond: 200 });
      for (let i = 0; i < 4; i++) assert.equal(await counted(client), 200);
      await edit(4, 2);
      assert.equal(await counted(client), 429, 'four were counted before it was lowered to four');
      await edit(6, 3);
      assert.equal(await counted(client), 200, 'the sixth: what was refused counts too');
      assert.equal(await counted(client), 429);
      const { failures } = await load.stop();
      assert.deepEqual(failures, []);
      assert.equal(await system.pid('ratelimit-service'), pid);
    }));

  test('that are right hold beside a wrong one, and all that were right stay with a new mistake', async () => {
    const { upstream } = system.services;
    const names = ['right', 'wrong'];
    const partly = (unit: string) =>
      names.map(name => labelled(name, upstream, [name])).join('') +
      limits('partly', [
        { pattern: [{ generic_key: 'right' }], rate: 0, unit: 'hour' },
        { pattern: [{ generic_key: 'wrong' }], rate: 0, unit },
      ]);
    const statuses = () => Promise.all(names.map(name => system.statusOf(`/${name}/`)));
    const have = (...wanted: readonly number[]) =>
      until(async () => (await statuses()).join() === wanted.join() || undefined);
    const isNow = (state: string) =>
      system.statusWhen(({ resources }) =>
        resources.some(each => each.id === 'RateLimit/default/partly' && each.state === state),
      );
    system.write('partly.yaml', partly('fortnight'));
    await have(429, 200);
    const { problems } = await isNow('in force');
    assert.match(problems.map(({ field }) => field).join(), /^spec\.limits\[1\]\.unit$/);
    system.write('partly.yaml', partly('hour'));
    await have(429, 429);
    await isNow('in force');
    system.write('partly.yaml', partly('fortnight'));
    await isNow('last good');
    assert.deepEqual(await statuses(), [429, 429]);
    system.write('partly.yaml', '# none');
    await have(404, 404);
  });

  test('that come together with their Mapping hold from its first request on', async () => {
    for (let at = 0; at < 10; at++) {
      const name = `new-${at}`;
      const limit = { pattern: [{ generic_key: name }], rate: 0, unit: 'hour' };
      system.write(
        'new.yaml',
        labelled(name, system.services.upstream, [name]) + limits(name, [limit]),
      );
      const first = await until(async () => {
        const status = await system.statusOf(`/${name}/`);
        return status === 404 ? undefined : status;
      });
      assert.equal(first, 429, name);
    }
  });

  test('whose pattern is renamed together with the label let no request through meanwhile', async () => {
    const write = async (at: number) => {
      const label = `label-${at}`;
      const errorResponse = { headers: [{ name: 'X-Label', value: label }] };
      const limit = { pattern: [{ generic_key: label }], rate: 0, unit: 'hour', errorResponse };
      system.write(
        'renamed.yaml',
        labelled('renamed', system.services.upstream, [label]) + limits('renamed', [limit]),
      );
      await until(
        async () => (await system.ask('/renamed/')).headers['x-label'] === label || undefined,
      );
    };
    await write(0);
    const load = startLoad({
      base: system.edge,
      path: '/renamed/',
      connections: 4,
      perSecond: 200,
    });
    for (let at = 1; at <= 10; at++) {
      await load.more(5);
      await write(at);
    }
    await load.more(5);
    const { samples } = await load.stop();
    assert.deepEqual([...new Set(samples.map(({ outcome }) => outcome))], [429]);
  });

  test('whose domain is renamed together with that of the labels hold on connections from before, too', async () => {
    const { rateLimit, upstream } = system.services;
    const write = async (domain: string) => {
      const errorResponse = { headers: [{ name: 'X-Domain', value: domain }] };
      const limit = { pattern: [{ generic_key: 'moved' }], rate: 0, unit: 'hour', errorResponse };
      const mapping = {
        prefix: '/moved/',
        service: upstream,
        labels: { [domain]: [{ group: ['moved'] }] },
      };
      system.write(
        'service.yaml',
        patientService(rateLimit, { domain }) +
          document('Mapping', 'moved', mapping) +
          document('RateLimit', 'moved', { domain, limits: [limit] }),
      );
      await until(
        async () => (await system.ask('/moved/')).headers['x-domain'] === domain || undefined,
      );
    };
    await write('gateway');
    const load = startLoad({ base: system.edge, path: '/moved/', connections: 4, perSecond: 100 });
    for (const domain of ['one', 'two', 'gateway']) {
      await load.more(8);
      await write(domain);
    }
    await load.more(8);
    const { samples } = await load.stop();
    assert.deepEqual([...new Set(samples.map(({ outcome }) => outcome))], [429]);
  });

  test('with a mistake keep their last good version', () =>
    withinOneWindow(async client => {
      await edit(1, 4);
      assert.equal(await counted(client), 200);
      system.write('limits.yaml', limitsWith(-1, 5));
      await system.statusWhen(({ problems }) =>
        problems.some(({ field }) => field?.endsWith('rate') ?? false),
      );
      assert.equal(await counted(client), 429);
      assert.equal(await system.statusOf('/closed/'), 429);
      assert.equal((await system.ask('/version/')).headers['x-version'], '4');
      await edit(5, 6);
    }));

  test('stay when the control plane is killed', async t => {
    const former = await system.kill('controlplane');
    const killedAt = performance.now();
    const statuses = new Map<number, number>();
    await until(async () => {
      const status = await system.statusOf('/closed/');
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const pid = await system.pid('controlplane');
      return (pid !== undefined && pid !== former) || undefined;
    });
    await system.statusWhen(({ ready }) => ready);
    assert.equal(await system.statusOf('/closed/'), 429);
    t.diagnostic(`${statuses.get(429)} requests in ${Math.round(performance.now() - killedAt)} ms`);
    assert.deepEqual([...statuses.keys()], [429]);
  });

  for (const [deny, status] of [
    [false, 200],
    [true, 500],
  ] as const) {
    describe(`with failure_mode_deny ${deny}`, () => {
      before(() => ask(system.services.rateLimit, PATIENT_MS, deny));

      test(`give ${status} while the service is away, and come back with it`, async t => {
        assert.equal(await system.statusOf('/closed/'), 429);
        await system.whileAway('ratelimit-service', () =>
          until(async () => (await system.statusOf('/closed/')) === status || undefined),
        );
        const killedAt = performance.now();
        const others = new Set<number>();
        await until(async () => {
          const now = await system.statusOf('/closed/');
          if (now === 429) return true;
          others.add(now);
          return undefined;
        });
        t.diagnostic(`limits were back after ${Math.round(performance.now() - killedAt)} ms`);
        assert.deepEqual([...others], [status]);
      });

      test(`give ${status} after timeout_ms when the service is too slow`, async t => {
        await ask(system.services.rateLimit, 150, deny);
        const pid = (await system.pid('ratelimit-service')) ?? 0;
        process.kill(pid, 'SIGSTOP');
        t.after(() => process.kill(pid, 'SIGCONT'));
        const sentAt = performance.now();
        assert.equal(await system.statusOf('/closed/'), status);
        const tookMs = performance.now() - sentAt;
        t.diagnostic(`${Math.round(tookMs)} ms`);
        assert.ok(tookMs >= 140, `${tookMs} ms`);
        process.kill(pid, 'SIGCONT');
        await until(async () => (await system.statusOf('/closed/')) === 429 || undefined);
      });

      test(`of another service hold, and give ${status} when it is gone for good`, async t => {
        const other = await startOther(t);
        await ask(other.address, PATIENT_MS, deny);
        const asked = 'gateway_ratelimit_answers_total{code="OVER_LIMIT"}';
        await until(async () => {
          assert.equal(await system.statusOf('/closed/'), 429);
          return (await other.metric(asked)) > 0 || undefined;
        });
        await other.kill();
        for (let i = 0; i < 5; i++) assert.equal(await system.statusOf('/closed/'), status);
        await ask(system.services.rateLimit, PATIENT_MS, deny);
        assert.equal(await system.statusOf('/closed/'), 429);
      });
    });
  }

  async function startOther(t: TestContext): Promise<ServiceProcess> {
    const other = await startService(`127.0.0.1:${system.ports.xds}`);
    t.after(() => other.kill());
    await other.ready();
    return other;
  }
});
