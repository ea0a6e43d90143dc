import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { claimPortOffset } from '#envoy/e2e/port-offset.ts';
import { type RawAnswer, type RequestOptions, request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { type Echo, startUpstream, type Upstream } from '#envoy/e2e/upstream.ts';
import { portsAt } from '#launcher/ports.ts';

/** Where the services of one system are, `host:port`. */
export type Services = {
  readonly upstream: string;
  /** The built-in rate limit service. */
  readonly rateLimit: string;
};

/** A whole gateway with limits, and an upstream that echoes. */
export type LimitedSystem = System & {
  readonly services: Services;
  readonly upstream: Upstream;
  /** Sends one request through the edge. */
  ask(path: string, options?: RequestOptions): Promise<RawAnswer>;
  /** Sends one request, and returns its status alone. */
  statusOf(path: string, options?: RequestOptions): Promise<number>;
  /** Returns what the upstream got. Fails when it got nothing. */
  echo(path: string, options?: RequestOptions): Promise<Echo>;
  /** Waits for the line of the edge's access log that has all of these texts. */
  logLine(...texts: readonly string[]): Promise<string>;
  /** Tells whether there is such a line. */
  logHas(...texts: readonly string[]): boolean;
  /** Waits until all resources are accepted. Fails when there are errors among the Problems. */
  settled(): Promise<void>;
};

/**
 * A busy machine may take longer than Envoy's 20 ms to decide. Tests give a decision this time, in
 * ms.
 */
export const PATIENT_MS = 10_000;

/**
 * Starts a gateway with the resources that `write` makes, by file name, and waits until they are in
 * force.
 */
export async function startLimited(
  write: (services: Services) => Readonly<Record<string, string>>,
): Promise<LimitedSystem> {
  const [port, upstream] = await Promise.all([claimPortOffset(), startUpstream('upstream')]);
  const services = {
    upstream: `127.0.0.1:${upstream.port}`,
    rateLimit: `127.0.0.1:${portsAt(port.offset).rateLimit}`,
  };
  const system = await startSystem({ port, resources: write(services) });
  const limited = withLimits(system, services, upstream, port.release);
  await limited.settled().catch(async (error: unknown) => {
    await limited.stop();
    throw error;
  });
  return limited;
}

function withLimits(
  system: System,
  services: Services,
  upstream: Upstream,
  release: () => void,
): LimitedSystem {
  const ask: LimitedSystem['ask'] = (path, options) => request(system.edge, path, options);
  const log = join(system.state, 'logs', 'edge.log');
  return {
    ...system,
    services,
    upstream,
    ask,
    statusOf: async (path, options) => (await ask(path, options)).status,
    echo: async (path, options) => {
      const { body, status } = await ask(path, options);
      assert.equal(status, 200, body);
      return JSON.parse(body) as Echo;
    },
    logLine: (...texts) =>
      until(() => lineWith(log, texts), 30_000, `a log line with ${texts.join()}`),
    logHas: (...texts) => lineWith(log, texts) !== undefined,
    settled: async () => {
      const { problems } = await system.statusWhen(({ resources }) => {
        return resources.length > 0 && resources.every(({ state }) => state === 'in force');
      });
      assert.deepEqual(
        problems.filter(({ severity }) => severity === 'error'),
        [],
      );
    },
    stop: async () => {
      await system.stop();
      release();
      await upstream.close();
    },
  };
}

function lineWith(file: string, texts: readonly string[]): string | undefined {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.find(line => texts.every(text => line.includes(text)));
}

/** Returns one document as an operator writes it. */
export function document(kind: string, name: string, spec: object): string {
  return `---\n${stringify({ apiVersion: 'gateway.internal/v2', kind, metadata: { name }, spec })}`;
}

/** Returns a RateLimitService for the built-in or another service, with the timeout of tests. */
export function patientService(service: string, more: object = {}): string {
  return document('RateLimitService', 'limits', { service, timeout_ms: PATIENT_MS, ...more });
}

/** Returns a RateLimit of domain `gateway`. */
export function limits(name: string, list: readonly object[]): string {
  return document('RateLimit', name, { domain: 'gateway', limits: list });
}

/** How long the upstream may take, in ms. It runs in the process of the test. */
const UPSTREAM_MS = 20_000;

/** Returns a Mapping of `/<name>/` with these label groups. */
export function labelled(
  name: string,
  service: string,
  ...groups: readonly (readonly unknown[])[]
): string {
  const gateway = groups.map((group, index) => ({ [`group-${index}`]: group }));
  const spec = { prefix: `/${name}/`, service, timeout_ms: UPSTREAM_MS, labels: { gateway } };
  return document('Mapping', name, spec);
}
