import { UnsecuredJWT } from 'jose';
import { startSystem } from '#envoy/e2e/system.ts';
import { kind } from '#envoy/e2e/token-site.ts';
import { cpuInTurn } from '../cpu-in-turn.ts';
import { sendRequests, startRawService } from '../raw-http.ts';

/** Processes whose CPU is measured. */
const PARTS = ['edge', 'ext-authz', 'ratelimit-service'] as const;
type Part = (typeof PARTS)[number];

export type WayCost = {
  readonly name: string;
  /** CPU for one request, in µs. */
  readonly us: Readonly<Record<Part, number>>;
  /** Compared to the edge's CPU in a virtual host without login and limit. */
  readonly times: number;
};

/** Each is the host of a virtual host of its own in one edge. */
const WAYS = {
  'no login and no limit': 'none.test',
  'neither, once more': 'none.test',
  'a login on another path': 'beside.test',
  'a login on this path': 'login.test',
  'a limit': 'limit.test',
  'a login and a limit': 'both.test',
} as const;
const CONNECTIONS = 32;

/** Sends the same requests on all ways through one whole gateway, in turn. */
export async function measureWays(rounds: number, requests: number): Promise<readonly WayCost[]> {
  const service = await startRawService();
  const system = await startSystem({ resources: { 'ways.yaml': resources(service.port) } });
  const pids: number[] = [];
  for (const part of PARTS) {
    const pid = await system.pid(part);
    if (pid === undefined) throw new Error(`${part} does not run`);
    pids.push(pid);
  }
  const arms = Object.values(WAYS).map(host => ({
    pids,
    send: () =>
      sendRequests(system.ports.edge, '/site/a?b=c', requests, CONNECTIONS, fieldsOf(host)),
  }));
  const costs = await cpuInTurn(arms, { rounds, requests });
  await system.stop();
  service.stop();
  const ofEdge = costs.map(([edge = 0]) => edge);
  return Object.keys(WAYS).map((name, n) => ({
    name,
    us: Object.fromEntries(PARTS.map((part, at) => [part, costs[n]?.[at]])) as WayCost['us'],
    times: (ofEdge[n] ?? 0) / (ofEdge[0] ?? 1),
  }));
}

/** Returns header lines. All are alike but for the host, so that no way has fewer bytes. */
export function fieldsOf(host: string): readonly string[] {
  const token = new UnsecuredJWT({ plan: 'gold' }).setSubject('alice').encode();
  return [`host: ${host}`, `authorization: Bearer ${token}`, 'cookie: theme=dark; a=1'];
}

/** Returns the resources of these virtual hosts, whose service listens on this port. */
export function resources(port: number): string {
  const mapping = (name: string, more = '') =>
    kind(
      'Mapping',
      name,
      `{host: ${name}.test, prefix: /site/, service: "127.0.0.1:${port}"${more}}`,
    );
  const labels = ', labels: {gateway: [{each: [site]}]}';
  const rule = (host: string, path: string) =>
    `{host: ${host}, path: ${path}, filters: [{name: login}]}`;
  return [
    mapping('none'),
    mapping('beside'),
    mapping('login'),
    mapping('limit', labels),
    mapping('both', labels),
    kind(
      'Filter',
      'login',
      "{JWT: {validAlgorithms: [none], injectRequestHeaders: [{name: X-User, value: '{{ .token.Claims.sub }}'}]}}",
    ),
    kind(
      'FilterPolicy',
      'logins',
      `{rules: [${rule('beside.test', '/account/*')}, ${rule('login.test', '/*')}, ${rule('both.test', '/*')}]}`,
    ),
    kind(
      'RateLimit',
      'all',
      '{domain: gateway, limits: [{pattern: [{generic_key: site}], rate: 1000000000, unit: hour}]}',
    ),
  ].join('');
}
