import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stringify } from 'yaml';
import { type EnvoyProcess, startEnvoy } from './envoy-process.ts';
import { promised } from './promised.ts';
import { getJson, request } from './request.ts';
import { bootstrapOf, type System, startSystem } from './system.ts';
import { until } from './until.ts';
import { startHttp2Upstream, startUpstream, type Upstream } from './upstream.ts';

const REFRESH_DELAY_MS = 1_000;

/** The rest of a refresh: polling, and connecting to the new instance, on a busy machine. */
const SLACK_MS = promised(1_000);
/** Envoy polls later than the refresh delay by at most this (RestApiFetcher). */
const ENVOYS_JITTER_MS = 1_000;

const CLUSTER = { name: 'usersrv', lb_type: 'round_robin', connect_timeout_ms: 250 };

/** Returns each type of cluster: the ProxyConfig's keys beside listener and virtual hosts. */
function routings({ one, h2, sdsPort }: { one: number; h2: number; sdsPort: number }) {
  const sds = { type: 'sds', service_name: 'user-service' };
  const discovery = {
    name: 'sds',
    type: 'static',
    lb_type: 'round_robin',
    connect_timeout_ms: 250,
    hosts: [{ url: `tcp://127.0.0.1:${sdsPort}` }],
  };
  return {
    'strict-dns': {
      clusters: [{ ...CLUSTER, type: 'strict_dns', hosts: [{ url: `tcp://localhost:${one}` }] }],
    },
    static: {
      clusters: [{ ...CLUSTER, type: 'static', hosts: [{ url: `tcp://127.0.0.1:${one}` }] }],
    },
    http2: {
      clusters: [
        {
          ...CLUSTER,
          type: 'static',
          features: 'http2',
          hosts: [{ url: `tcp://127.0.0.1:${h2}` }],
        },
      ],
    },
    'sds-rest': {
      clusters: [{ ...CLUSTER, ...sds }],
      cluster_manager: { sds: { cluster: discovery, refresh_delay_ms: REFRESH_DELAY_MS } },
    },
    'sds-grpc': {
      clusters: [{ ...CLUSTER, ...sds }],
      cluster_manager: { sds: { cluster: discovery } },
    },
  };
}

/** Returns the routing for one node group. */
function proxyConfig(group: string, port: number, routing: object): string {
  const routes = [{ prefix: '/user', cluster: 'usersrv', timeout_ms: 0 }];
  return stringify({
    apiVersion: 'gateway.internal/v2',
    kind: 'ProxyConfig',
    metadata: { name: group },
    spec: {
      node_group: group,
      // Its clients are no proxies of ours.
      listener: { address: '127.0.0.1', port, hop_tls: false },
      virtual_hosts: [{ name: 'service', domains: ['*'], routes }],
      ...routing,
    },
  });
}

describe('routing, with instances found by', () => {
  const bases = new Map<string, string>();
  const envoys: EnvoyProcess[] = [];
  let system: System;
  let one: Upstream;
  let h2: Upstream;

  before(async () => {
    [one, h2] = [await startUpstream('one'), await startHttp2Upstream('http2')];
    system = await startSystem({ instances: 2 });
    const all = Object.entries(routings({ one: one.port, h2: h2.port, sdsPort: system.ports.sds }));
    for (const [at, [group, routing]] of all.entries()) {
      const port = system.freePort(at);
      system.write(`${group}.yaml`, proxyConfig(group, port, routing));
      bases.set(group, `http://127.0.0.1:${port}`);
    }
    const { problems } = await system.statusWhen(
      ({ resources }) => resources.length >= 2 + all.length,
    );
    assert.deepEqual(problems, []);
    for (const [group, base] of bases) {
      const envoy = await startEnvoy(
        await bootstrapOf(system, group, '--resources', system.resources),
      );
      envoys.push(envoy);
      await envoy.listenerPort(base.replace('http://', ''));
    }
  });
  after(async () => {
    for (const envoy of envoys) await envoy.stop();
    await system.stop();
    await Promise.all([one.close(), h2.close()]);
  });

  const baseOf = (group: string) => bases.get(group) ?? '';

  async function hostnames(group: string, requests: number): Promise<readonly string[]> {
    const names: string[] = [];
    for (let at = 0; at < requests; at++) {
      names.push((await getJson<{ hostname: string }>(baseOf(group), '/user/health')).hostname);
    }
    return names;
  }

  const answers = (group: string) =>
    until(
      async () => (await request(baseOf(group), '/user/health')).status === 200 || undefined,
      30_000,
      `${group} answers`,
    );

  for (const [group, hostname] of [
    ['strict-dns', 'one'],
    ['static', 'one'],
    ['http2', 'http2'],
  ] as const) {
    test(`${group}`, async () => {
      await answers(group);
      assert.deepEqual(await hostnames(group, 2), [hostname, hostname]);
      assert.equal((await request(baseOf(group), '/other')).status, 404);
    });
  }

  for (const group of ['sds-rest', 'sds-grpc']) {
    test(`${group}, each in turn`, async () => {
      await answers(group);
      assert.deepEqual((await hostnames(group, 6)).toSorted(), [
        ...Array(3).fill('user-service-1'),
        ...Array(3).fill('user-service-2'),
      ]);
    });
  }

  test('sds: a third instance arrives by gRPC at once, by REST within the refresh delay', async t => {
    const registered = async () => {
      const path = '/v1/registration/user-service';
      const { hosts } = await getJson<{ hosts: readonly object[] }>(
        `http://127.0.0.1:${system.ports.sds}`,
        path,
      );
      return hosts.length === 3 || undefined;
    };
    const scaling = system.command('scale', '3', '--state', system.state);
    await until(registered, 30_000, 'the discovery service knows three instances');
    const begin = performance.now();
    const arrival = async (group: string) => {
      await until(
        async () => new Set(await hostnames(group, 3)).size === 3 || undefined,
        30_000,
        group,
      );
      return performance.now() - begin;
    };
    const [grpc, rest] = await Promise.all([arrival('sds-grpc'), arrival('sds-rest')]);
    t.diagnostic(
      `gRPC ${Math.round(grpc)} ms, REST ${Math.round(rest)} ms of ${REFRESH_DELAY_MS} ms`,
    );
    assert.equal((await scaling).code, 0);
    assert.ok(grpc < SLACK_MS);
    assert.ok(rest < REFRESH_DELAY_MS + ENVOYS_JITTER_MS + SLACK_MS);
  });
});
