import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { startEnvoy } from './envoy-process.ts';
import { getJson, request } from './request.ts';
import { bootstrapOf, type System, startSystem } from './system.ts';
import { until } from './until.ts';

const INSTANCES = ['user-service-1', 'user-service-2', 'user-service-3'];

type Health = {
  readonly hostname: string;
  readonly msg: string;
  readonly ok: boolean;
  resolvedname: string;
};

/** Returns the `hostname` of so many answers, one request after the other. */
async function hostnames(base: string, requests: number): Promise<readonly string[]> {
  const names: string[] = [];
  for (let at = 0; at < requests; at++) {
    names.push((await getJson<Health>(base, '/user/health')).hostname);
  }
  return names;
}

function countOf(names: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    INSTANCES.map(name => [name, names.filter(other => other === name).length]),
  );
}

describe('the edge over three instances', () => {
  let system: System;
  before(async () => {
    system = await startSystem({ instances: 3 });
  });
  after(() => system.stop());

  test('gives each the same share, in turn', async () => {
    const names = await hostnames(system.edge, 12);
    assert.deepEqual(countOf(names), {
      'user-service-1': 4,
      'user-service-2': 4,
      'user-service-3': 4,
    });
    const [a, b, c] = names;
    assert.deepEqual(names, [a, b, c, a, b, c, a, b, c, a, b, c]);
  });

  test('passes on the health response of the service', async () => {
    const { body, headers } = await request(system.edge, '/user/health');
    const { hostname, resolvedname, ...rest } = JSON.parse(body) as Health;
    assert.ok(INSTANCES.includes(hostname));
    assert.ok(isIP(resolvedname) > 0, resolvedname);
    assert.deepEqual(Object.keys(rest).sort(), ['msg', 'ok']);
    assert.equal(rest.ok, true);
    assert.equal(headers['x-powered-by'], undefined);
  });

  test('with two workers gives each its share within a bound', async t => {
    const port = system.freePort(0);
    system.write('two-workers.yaml', twoWorkers(port));
    const envoy = await startEnvoy(await bootstrapOf(system, 'two-workers'), [
      '--concurrency',
      '2',
    ]);
    t.after(() => envoy.stop());
    const base = `http://127.0.0.1:${await envoy.listenerPort(`127.0.0.1:${port}`)}`;
    await until(async () => (await isAnswered(base)) || undefined);
    const counts = countOf(await hostnames(base, 120));
    t.diagnostic(`120 requests over two workers: ${JSON.stringify(counts)}`);
    // Each worker takes the endpoints in turn by itself, on connections that the kernel gives it.
    // So two rounds are unfinished.
    for (const count of Object.values(counts))
      assert.ok(Math.abs(count - 40) <= 2, JSON.stringify(counts));
  });
});

function twoWorkers(port: number): string {
  return `
apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata: { name: two-workers }
spec:
  node_group: two-workers
  listener: { address: 127.0.0.1, port: ${port}, hop_tls: false }
  virtual_hosts: [{ name: all, domains: ["*"], routes: [{ prefix: /user, cluster: user-service, timeout_ms: 0 }] }]
  clusters: [{ name: user-service, type: sds, lb_type: round_robin, connect_timeout_ms: 250 }]
`;
}

async function isAnswered(base: string): Promise<boolean> {
  const answer = await request(base, '/user/health').catch(() => undefined);
  return answer?.status === 200;
}
