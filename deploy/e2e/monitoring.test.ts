import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { GRPC_CALL, type GrpcStatuses, startGrpcStatuses } from '#envoy/e2e/grpc-statuses.ts';
import { request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { DASHBOARDS } from '../kubernetes/monitoring/dashboards.ts';
import { toGrafana } from '../kubernetes/monitoring/grafana.ts';
import { ROOT } from '../testing/compose-file.ts';
import { type Prometheus, startPrometheus, whyNoPrometheus } from '../testing/start-prometheus.ts';

const FOLDER = join(ROOT, 'deploy', 'kubernetes', 'monitoring');

type Rule = { readonly alert: string; readonly expr: string };
type Group = { readonly name: string; readonly rules: readonly Rule[] };

const [{ spec }] = parseAllDocuments(
  readFileSync(join(FOLDER, 'prometheus-rules.yaml'), 'utf8'),
).map(document => document.toJS()) as [{ spec: { groups: readonly Group[] } }];

const panels = Object.values(DASHBOARDS).flatMap(({ panels, title }) =>
  panels.map(panel => ({ name: `${title}: ${panel.title}`, curves: Object.values(panel.curves) })),
);

/** Names with dots, and a service that is not there and is checked. */
const DOTTED = `apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: is.there}
spec: {host: there.example.com, prefix: /there/, rewrite: /user/, service: user-service, resolver: sds}
---
apiVersion: gateway.internal/v2
kind: Host
metadata: {name: secure}
spec: {hostname: secure.example.com, tls: {issuer: gateway}}
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: dead}
spec:
  prefix: /dead/
  service: 127.0.0.1:1
  health_checks: [{interval: 200ms, health_check: {http: {path: /}}}]
`;

const callsTo = (port: number) => `apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: calls}
spec: {prefix: /calls/, rewrite: "", service: "127.0.0.1:${port}", grpc: true}
`;

/** The statuses by which a service of gRPC fails. */
const FAILURES = [2, 4, 13, 14, 15];

/** It is on after a minute, which is longer than these tests usually take. */
const OF_THE_DEAD = 'GatewayNoHealthyInstance';

/** Panels of what a system without trouble, Redis, Kubernetes and closed paths does not have. */
const EMPTY = [
  'Gateway: control plane and discovery: DNS queries of discovery',
  'Gateway: control plane and discovery: Rejected by proxies',
  'Gateway: edge and services: Instances out by outlier detection',
  'Gateway: Filters and limits: Lost counters and failed templates',
  'Gateway: Filters and limits: Memory of the counter store',
  'Gateway: Filters and limits: Time of the counter store',
  'Gateway: control plane and discovery: Status written to objects',
];

for (const [file, dashboard] of Object.entries(DASHBOARDS)) {
  // After a change: node deploy/kubernetes/monitoring/write-dashboards.ts
  test(`${file} is what its description gives`, () => {
    const written = readFileSync(join(FOLDER, file), 'utf8');
    assert.deepEqual(JSON.parse(written), toGrafana(dashboard));
  });
}

describe('a Prometheus of a running system', { skip: whyNoPrometheus() ?? false }, () => {
  let system: System;
  let prometheus: Prometheus;
  let calls: GrpcStatuses;
  before(async () => {
    calls = await startGrpcStatuses();
    system = await startSystem({ demo: true, instances: 2 });
    system.write('dotted.yaml', DOTTED);
    system.write('calls.yaml', callsTo(calls.port));
    const { edgeStats, extAuthz, http, rateLimit, sds } = system.ports;
    const service = (port: number) =>
      ({
        job: 'gateway/gateway-services',
        address: `127.0.0.1:${port}`,
        path: '/metrics',
      }) as const;
    prometheus = await startPrometheus(
      [
        {
          job: 'gateway/gateway-proxies',
          address: `127.0.0.1:${edgeStats}`,
          path: '/stats/prometheus',
        },
        ...[http, sds, extAuthz, rateLimit].map(service),
      ],
      spec.groups,
    );
  });
  after(async () => {
    await prometheus?.stop();
    await system?.stop();
    calls?.stop();
  });

  /** Sends requests that pass, that Filters answer, and that no route has. */
  async function traffic(): Promise<void> {
    for (const path of ['/user/health', '/api/health', '/dead/', '/nowhere'])
      await request(system.edge, path);
    await request(system.edge, '/there/health', { headers: { host: 'there.example.com' } });
    for (const status of FAILURES) await request(system.edge, `/calls/${status}`, GRPC_CALL);
  }

  /** Waits until each of these expressions has a result, while there is traffic. */
  async function filled(curves: readonly string[]): Promise<void> {
    await until(
      async () => {
        await traffic();
        const results = await Promise.all(curves.map(curve => prometheus.query(inTime(curve))));
        return results.some(({ length }) => length > 0) || undefined;
      },
      60_000,
      curves.join(),
    );
  }

  test('reads every part', async () => {
    await until(
      async () => (await prometheus.query('sum(up) == 5')).length > 0 || undefined,
      30_000,
    );
  });

  test('shows that limits were not decided about', async () => {
    const pid = await system.kill('ratelimit-service');
    assert.ok(pid > 0);
    await filled(['envoy_cluster_ratelimit_error > 0']);
  });

  for (const { curves, name } of panels) {
    test(`has what this shows: ${name}`, async () => {
      if (!EMPTY.includes(name)) return filled(curves);
      for (const curve of curves) await prometheus.query(inTime(curve));
    });
  }

  for (const [what, expression] of [
    [
      'a certificate',
      'envoy_listener_ssl_certificate_expiration_unix_time_seconds{envoy_tls_certificate="gateway/issued/secure.example.com"}',
    ],
    ['a service', 'envoy_cluster_health_check_failure{envoy_cluster_name="127_0_0_1_1"}'],
    [
      'a Mapping',
      'envoy_route_requests{envoy_route="Mapping/default/is.there",envoy_response_code="200"}',
    ],
  ] as const) {
    test(`labels what is about ${what} with its whole name`, () => filled([expression]));
  }

  test('shows by route only what met one', async () => {
    await filled(['rate(envoy_route_requests{envoy_route=""}[1m]) > 0']);
    const byRoute = panels.flatMap(({ curves }) => curves).filter(each => /envoy_route/.test(each));
    assert.equal(byRoute.length, 3);
    for (const curve of byRoute) {
      await filled([curve]);
      for (const { metric } of await prometheus.query(inTime(curve)))
        assert.match(metric.envoy_route ?? 'no route', /^Mapping\//, curve);
    }
  });

  test('knows every metric that a dashboard or an alert names', async () => {
    const known = new Set([...(await envoyMetrics()), ...ownMetrics()]);
    const expressions = [
      ...panels.flatMap(({ curves }) => curves),
      ...spec.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
    ];
    const named = expressions.flatMap(text => [
      ...text
        .replace(/ by \([^)]*\)/g, '')
        .matchAll(/\b(?:envoy|gateway|sds|process)_\w+(?=[^\w=!]|$)/g),
    ]);
    const unknown = named.map(([name]) => name).filter(name => !known.has(name));
    assert.ok(named.length > 60);
    assert.deepEqual([...new Set(unknown)], []);
  });

  test('reads no metric of ours that the reference does not have', async () => {
    const names = (await prometheus.api('label/__name__/values')) as readonly string[];
    const own = names.filter(name => /^(?:gateway|sds)_/.test(name));
    const known = new Set(ownMetrics().flatMap(name => [name, name.replace(/_count$/, '_sum')]));
    assert.ok(own.length > 30);
    assert.deepEqual(
      own.filter(name => !known.has(name)),
      [],
    );
  });

  test('evaluates every alert, and none is on', async () => {
    type Evaluated = { name: string; health: string; state: string; lastError?: string };
    const rules = await until(async () => {
      const { groups } = (await prometheus.api('rules')) as { groups: { rules: Evaluated[] }[] };
      const all = groups.flatMap(({ rules }) => rules);
      return all.every(({ health }) => health !== 'unknown') ? all : undefined;
    }, 30_000);
    assert.equal(rules.length, spec.groups.flatMap(({ rules }) => rules).length);
    assert.deepEqual(
      rules
        .filter(({ health, state }) => health !== 'ok' || state === 'firing')
        .filter(({ lastError, name }) => lastError !== undefined || name !== OF_THE_DEAD),
      [],
    );
  });

  /** The names of all metrics of the edge, also of those that were never counted. */
  async function envoyMetrics(): Promise<readonly string[]> {
    const { body } = await request(
      `http://127.0.0.1:${system.ports.edgeAdmin}`,
      '/stats/prometheus',
    );
    return [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`] : [name],
    );
  }

  /** Ours are those of the reference, which is made from the registries. */
  function ownMetrics(): readonly string[] {
    const page = readFileSync(join(ROOT, 'docs/reference/metrics.md'), 'utf8');
    const named = [...page.matchAll(/^\| `(\w+)` \| (\w+)/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`] : [name],
    );
    return [...named, 'process_cpu_seconds_total', 'process_resident_memory_bytes'];
  }
});

function inTime(curve: string): string {
  return curve.replaceAll('[$step]', '[1m]');
}
