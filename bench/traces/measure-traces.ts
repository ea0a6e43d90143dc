import { request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { type Collector, startCollector } from '#envoy/testing/collector.ts';
import { serve } from '#grpc/serve.ts';
import { edgeSession } from '../../ext-authz/e2e/edge-session.ts';
import { userNamed } from '../../identity-provider/sample-users.ts';
import { cpuInTurn } from '../cpu-in-turn.ts';
import { sendRequests, startRawService } from '../raw-http.ts';

export const PARTS = ['edge', 'ext-authz', 'ratelimit-service'] as const;
type Part = (typeof PARTS)[number];

export type TraceCost = {
  readonly name: string;
  /** CPU for one request, in µs. */
  readonly us: Readonly<Record<Part, number>>;
};

/** What a system has switched on. `percent` of its requests are traced. */
type Switched = {
  readonly name: string;
  readonly percent: number;
  /** Whether the proxies push figures and sampled requests. */
  readonly figures: boolean;
  /** The driver of the LogService that gets each request, if any. */
  readonly logs?: 'http' | 'opentelemetry';
};

/** A system, and its user's session. */
type Arm = {
  readonly switched: Switched;
  readonly system: System;
  readonly cookie: string;
  /** In the order of PARTS. */
  readonly pids: readonly number[];
};

/** The demo protects what is below `/account/`. */
const PATH = '/account/traced';
const SWITCHED: readonly Switched[] = [
  { name: 'off', percent: 0, figures: false },
  { name: 'traces 1 %', percent: 1, figures: false },
  { name: 'traces 1 %, figures', percent: 1, figures: true },
  { name: 'these and logs by `http`', percent: 1, figures: true, logs: 'http' },
  { name: 'these and logs by `opentelemetry`', percent: 1, figures: true, logs: 'opentelemetry' },
  { name: 'traces 100 %', percent: 100, figures: false },
  // Processes that are alike differ too. This says by how much.
  { name: 'off, a second time', percent: 0, figures: false },
];
const CONNECTIONS = 16;

/** Sends the same load to systems that have nothing, some and all switched on, in turn. */
export async function measureTraces(
  rounds: number,
  requests: number,
): Promise<readonly TraceCost[]> {
  const [service, collector, logService] = await Promise.all([
    startRawService(),
    startCollector(),
    startLogService(),
  ]);
  const logs = { http: `127.0.0.1:${logService.port}`, opentelemetry: collector.grpc };
  const arms: Arm[] = [];
  for (const switched of SWITCHED)
    arms.push(await startArm(switched, service.port, collector, logs));
  const costs = await cpuInTurn(
    arms.map(({ cookie, pids, system: { ports } }) => {
      const fields = [`host: 127.0.0.1:${ports.edge}`, `cookie: ${cookie}`];
      return { pids, send: () => sendRequests(ports.edge, PATH, requests, CONNECTIONS, fields) };
    }),
    { rounds, requests },
  );
  const sent = (rounds + 1) * requests;
  for (const arm of arms) await checkSpans(arm, sent);
  await until(async () => logService.entries() >= sent || undefined);
  for (const { system } of arms) await system.stop();
  await Promise.all([collector.stop(), logService.stop()]);
  service.stop();
  return arms.map(({ switched }, n) => {
    const [edge = 0, checks = 0, limits = 0] = costs[n] ?? [];
    return { name: switched.name, us: { edge, 'ext-authz': checks, 'ratelimit-service': limits } };
  });
}

/** Starts what Envoy's access log service is, and counts its entries. */
async function startLogService(): Promise<{
  readonly port: number;
  readonly entries: () => number;
  readonly stop: () => Promise<void>;
}> {
  let entries = 0;
  const StreamAccessLogs = (call: NodeJS.EventEmitter) =>
    call.on('data', ({ http_logs }: { http_logs?: { log_entry: readonly unknown[] } | null }) => {
      entries += http_logs?.log_entry.length ?? 0;
    });
  const { port, stop } = await serve({
    host: '127.0.0.1',
    port: 0,
    services: { 'envoy.service.accesslog.v3.AccessLogService': { StreamAccessLogs } },
  });
  return { port, entries: () => entries, stop: () => stop(100) };
}

async function startArm(
  switched: Switched,
  service: number,
  collector: Collector,
  addresses: Readonly<Record<NonNullable<Switched['logs']>, string>>,
): Promise<Arm> {
  const { figures, logs, percent } = switched;
  const system = await startSystem({
    demo: true,
    environment: {
      FIGURES: figures ? 'on' : 'off',
      ...(percent === 0 ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: collector.http }),
    },
  });
  system.write(
    'traced.yaml',
    [
      resources(service),
      ...(percent === 0 ? [] : [tracing(percent, collector)]),
      ...(logs === undefined ? [] : [logging(logs, addresses[logs])]),
    ].join('---\n'),
  );
  const user = userNamed('ada');
  if (user === undefined) throw new Error('The demo has no user ada');
  const cookie = await edgeSession(system.edge, PATH, user);
  await until(async () => {
    const { body, status } = await request(system.edge, PATH, { headers: { cookie } });
    return (status === 200 && body.startsWith('xxx')) || undefined;
  });
  const pids = await Promise.all(PARTS.map(async part => (await system.pid(part)) ?? 0));
  return { switched, system, cookie, pids };
}

/** Fails when the edge traced clearly more or fewer requests than it was to. */
async function checkSpans({ switched: { percent }, system }: Arm, requests: number): Promise<void> {
  const admin = `http://127.0.0.1:${system.ports.edgeAdmin}`;
  const { body } = await request(admin, '/stats?filter=tracing.random_sampling');
  const counts = [...body.matchAll(/random_sampling: (\d+)/g)].map(([, count]) => Number(count));
  const traced = counts.reduce((sum, count) => sum + count, 0);
  const share = (100 * traced) / requests;
  if (share < percent / 5 || share > percent * 5)
    throw new Error(`${traced} of ${requests} requests were traced, with ${percent} %`);
}

const resources = (service: number) => `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: traced }
spec:
  prefix: ${PATH}
  service: "127.0.0.1:${service}"
  labels: { gateway: [{ traced: [traced] }] }
---
apiVersion: gateway.internal/v2
kind: RateLimit
metadata: { name: traced }
spec:
  domain: gateway
  limits: [{ name: traced, pattern: [{ generic_key: traced }], rate: 1000000000, unit: hour }]
`;

const tracing = (percent: number, { grpc }: Collector) => `apiVersion: gateway.internal/v2
kind: TracingService
metadata: { name: tracing }
spec: { service: "${grpc}", driver: opentelemetry, sampling: { random: ${percent} } }
`;

const logging = (driver: string, address: string) => `apiVersion: gateway.internal/v2
kind: LogService
metadata: { name: logs }
spec: { service: "${address}", driver: ${driver} }
`;
