import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { type Sample, startLoad } from '#envoy/e2e/load.ts';
import { promised } from '#envoy/e2e/promised.ts';
import { until } from '#envoy/e2e/until.ts';
import { type CheckedInstance, type Mode, startCheckedInstance } from './checked-instance.ts';
import { type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { startGrpcInstance } from './grpc-instance.ts';
import { withInstances } from './with-instances.ts';

const INTERVAL_MS = 200;
const TIMEOUT_MS = 300;
const JITTER = 1.1;

/** Two failed checks in a row, the first of which began just before the instance failed. */
const OUT_MS = 2 * (INTERVAL_MS * JITTER + TIMEOUT_MS) + INTERVAL_MS;

const mapping = (name: string, service: string, check: string) => `---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: ${name}}
spec:
  prefix: /${name}/
  service: ${service}
  timeout_ms: 1000
  retry_policy: {retry_on: gateway-error, num_retries: 0}
  health_checks:
    - interval: ${INTERVAL_MS}ms
      timeout: ${TIMEOUT_MS}ms
      health_check: ${check}
`;

const HTTP = `{http: {path: '/healthz?deep', hostname: health.example, add_request_headers: {authorization: Bearer let-me-in}, remove_request_headers: [x-forwarded-proto]}}`;

/** What checks an instance, and how it fails. */
const FAILURES: readonly (readonly [check: 'http' | 'tcp', mode: Mode])[] = [
  ['http', 'silent'],
  ['http', 'status 500'],
  ['http', 'status 503'],
  ['http', 'refusing'],
  ['http', 'reset'],
  ['tcp', 'refusing'],
];

describe('of three instances', { concurrency: true }, () => {
  /** Three for each failure, and three more. */
  let trios: readonly (readonly CheckedInstance[])[];
  let envoy: CompiledEnvoy;
  before(async () => {
    const checks = [...FAILURES.map(([check]) => check), 'http'];
    trios = await Promise.all(checks.map(startTrio));
    const addresses = trios.map(trio => trio.map(({ address }) => address));
    const mappings = checks.map((check, index) =>
      mapping(`trio-${index}`, addresses[index]?.[0] ?? '', check === 'http' ? HTTP : '{tcp: {}}'),
    );
    const changes = addresses.map(withInstances);
    envoy = await startCompiled(mappings.join(''), 'edge', bootstrap =>
      changes.reduce((changed, change) => change(changed), bootstrap),
    );
  });
  after(async () => {
    await envoy.stop();
    await Promise.all(trios.flat().map(instance => instance.close()));
  });

  for (const [index, [check, mode]] of FAILURES.entries()) {
    test(`one that is ${mode} is out in time by ${check}, under load, and comes back`, async t => {
      const first = trios[index]?.[0];
      const base = `http://127.0.0.1:${envoy.port}`;
      const load = startLoad({ base, path: `/trio-${index}/x`, perSecond: 25 });
      await until(() => load.tally().hostnames.size === 3 || undefined);
      await first?.become(mode);
      const failedAt = performance.now();
      await until(
        () => lastSent(load.tally().samples) > failedAt + promised(OUT_MS) + 500 || undefined,
      );
      await first?.become('well');
      const backAt = performance.now();
      await until(
        () =>
          load.tally().samples.some(each => each.sentAt > backAt && each.hostname === 'a') ||
          undefined,
      );
      const { failures } = await load.stop();
      report(t, failures, failedAt);
      assert.deepEqual(
        failures.filter(({ sentAt }) => sentAt > failedAt + promised(OUT_MS)),
        [],
      );
    });
  }

  test('the check has the host, the headers and the name of Envoy, and no line in the log', async () => {
    const headers = await until(() => trios[0]?.[1]?.checks[0]);
    assert.equal(headers.host, 'health.example');
    assert.equal(headers.authorization, 'Bearer let-me-in');
    assert.equal(headers['x-forwarded-proto'], undefined);
    assert.equal(headers['user-agent'], 'Envoy/HC');
    assert.doesNotMatch(envoy.log(), /healthz|let-me-in/);
  });

  test('while fewer than half of them are well all get requests, so one is still answered', async () => {
    const [one, two] = trios.at(-1) ?? [];
    await one?.become('refusing');
    await two?.become('refusing');
    const path = `/trio-${FAILURES.length}/x`;
    await until(async () => (await envoy.ask(path)).status === 200 || undefined);
  });
});

function startTrio(): Promise<readonly CheckedInstance[]> {
  return Promise.all(['a', 'b', 'c'].map(startCheckedInstance));
}

describe('of three gRPC servers', () => {
  test('one that says NOT_SERVING gets no requests, and some again when it serves', async t => {
    const servers = await Promise.all(['a', 'b', 'c'].map(startGrpcInstance));
    const addresses = servers.map(({ address }) => address);
    const yaml = mapping('grpc', addresses[0] ?? '', '{grpc: {upstream_name: hello.Hello}}');
    const envoy = await startCompiled(`${yaml}  grpc: true\n`, 'edge', withInstances(addresses));
    t.after(() => Promise.all([envoy, ...servers].map(each => each.stop())));
    const reached = async () => {
      const answers = await Promise.all(Array.from({ length: 30 }, () => envoy.ask('/grpc/x')));
      return [...new Set(answers.map(({ body }) => body))].sort().join('');
    };
    await until(async () => (await reached()) === 'abc' || undefined);
    servers[0]?.serve(false);
    await until(async () => (await reached()) === 'bc' || undefined);
    servers[0]?.serve(true);
    await until(async () => (await reached()) === 'abc' || undefined);
    assert.deepEqual([...new Set(servers.flatMap(({ asked }) => asked))], ['hello.Hello']);
  });
});

test('two answers 500 in a row eject an instance, where `outlier_detection` says so', async t => {
  const instances = await Promise.all(['a', 'b'].map(startCheckedInstance));
  const addresses = instances.map(({ address }) => address);
  const yaml = `apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: outliers}
spec:
  prefix: /outliers/
  service: ${addresses[0]}
  outlier_detection: {consecutive_5xx: 2, base_ejection_time: 1h}
`;
  const envoy = await startCompiled(yaml, 'edge', withInstances(addresses));
  t.after(async () => {
    await envoy.stop();
    await Promise.all(instances.map(instance => instance.close()));
  });
  await instances[0]?.become('status 500');
  const statuses = await statusesUntilWell(() => envoy.ask('/outliers/x'));
  const lost = statuses.filter(status => status === 500).length;
  t.diagnostic(`${lost} of ${statuses.length} requests were answered 500`);
  assert.ok(lost >= 2 && lost <= 4, 'few beyond those that show the failure');
});

for (const [what, policy] of [
  ['repeated elsewhere', ''],
  ['not repeated', '  retry_policy: {retry_on: gateway-error, num_retries: 0}\n'],
] as const) {
  test(`one that answers nothing is ejected by requests in turn, late ones being ${what}`, async t => {
    const instances = await Promise.all(['a', 'b'].map(startCheckedInstance));
    const addresses = instances.map(({ address }) => address);
    const yaml = `apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: late}
spec:
  prefix: /late/
  service: ${addresses[0]}
  timeout_ms: 200
  outlier_detection: {base_ejection_time: 1h}
${policy}`;
    const envoy = await startCompiled(yaml, 'edge', withInstances(addresses));
    t.after(async () => {
      await envoy.stop();
      await Promise.all(instances.map(instance => instance.close()));
    });
    await instances[0]?.become('silent');
    const statuses = await statusesUntilWell(() => envoy.ask('/late/x'));
    const lost = statuses.filter(status => status === 504).length;
    t.diagnostic(`${lost} of ${statuses.length} requests were answered 504`);
    assert.ok(lost >= 3 && lost <= 12, `${lost} lost, few beyond those that show the failure`);
  });
}

test('a member of a static cluster of a ProxyConfig is ejected without a setting', async t => {
  const instances = await Promise.all(['a', 'b'].map(startCheckedInstance));
  const hosts = instances.map(({ address }) => `{url: 'tcp://${address}'}`);
  const yaml = `apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata: {name: side}
spec:
  node_group: side
  listener: {port: 1}
  virtual_hosts: [{name: app, domains: ['*'], routes: [{prefix: /, cluster: app}]}]
  clusters: [{name: app, type: static, hosts: [${hosts}]}]
`;
  const envoy = await startCompiled(yaml, 'side');
  t.after(async () => {
    await envoy.stop();
    await Promise.all(instances.map(instance => instance.close()));
  });
  await instances[0]?.become('status 503');
  const statuses = await statusesUntilWell(() => envoy.ask('/x', { method: 'POST' }));
  const lost = statuses.filter(status => status === 503).length;
  t.diagnostic(`${lost} of ${statuses.length} requests were answered 503`);
  assert.ok(lost >= 3 && lost <= 12, `${lost} lost, few beyond those that show the failure`);
});

test('an instance that fails requests stays out although its checks succeed', async t => {
  const instances = await Promise.all(['a', 'b'].map(startCheckedInstance));
  const addresses = instances.map(({ address }) => address);
  const yaml = `${mapping('inside', addresses[0] ?? '', HTTP)}  outlier_detection: {base_ejection_time: 1h}\n`;
  const envoy = await startCompiled(yaml, 'edge', withInstances(addresses));
  t.after(async () => {
    await envoy.stop();
    await Promise.all(instances.map(instance => instance.close()));
  });
  const load = startLoad({ base: `http://127.0.0.1:${envoy.port}`, path: '/inside/x' });
  await until(() => load.tally().hostnames.size === 2 || undefined);
  await instances[0]?.become('well by checks alone');
  const checks = instances[0]?.checks.length ?? 0;
  await until(() => (instances[0]?.checks.length ?? 0) >= checks + 10 || undefined);
  const { failures, requests } = await load.stop();
  t.diagnostic(`${failures.length} of ${requests} failed`);
  assert.ok(failures.length >= 5 && failures.length < 40, `${failures.length} failed`);
});

/** Asks until twenty answers in a row are 200, and returns the statuses of all. */
async function statusesUntilWell(
  ask: () => Promise<{ readonly status: number }>,
): Promise<readonly number[]> {
  const statuses: number[] = [];
  return until(async () => {
    statuses.push((await ask()).status);
    const last = statuses.slice(-20);
    return last.length === 20 && last.every(each => each === 200) ? statuses : undefined;
  });
}

function lastSent(samples: readonly Sample[]): number {
  return Math.max(0, ...samples.map(({ sentAt }) => sentAt));
}

function report(t: TestContext, failures: readonly Sample[], failedAt: number): void {
  const last = Math.max(0, ...failures.map(({ sentAt }) => sentAt - failedAt));
  t.diagnostic(`${failures.length} failed, the last was sent ${Math.round(last)} ms after`);
}
