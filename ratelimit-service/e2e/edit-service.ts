import { request } from '#envoy/e2e/request.ts';
import { until } from '#envoy/e2e/until.ts';
import { document, type LimitedSystem } from './limited-system.ts';

export type Asked = {
  /** `127.0.0.1:port`. */
  readonly service: string;
  readonly timeout_ms: number;
  readonly failure_mode_deny: boolean;
};

/** The part of Envoy's dump that identifies its rate limit filter. Defaults are not in the dump. */
const FILTER = /"domain": "gateway",\s*"timeout": "([\d.]+)s",\s*("failure_mode_deny": true)?/g;

/** Edits the RateLimitService, and waits until the edge runs the edit alone. */
export async function editService(system: LimitedSystem, asked: Asked): Promise<void> {
  system.write('service.yaml', document('RateLimitService', 'limits', asked));
  const admin = `http://127.0.0.1:${system.ports.edgeAdmin}`;
  await until(
    async () => isInUse((await request(admin, '/config_dump')).body, asked) || undefined,
    15_000,
    `the edge asks as in ${JSON.stringify(asked)}`,
  );
}

function isInUse(dump: string, { failure_mode_deny, service, timeout_ms }: Asked): boolean {
  const [filter, other] = dump.matchAll(FILTER);
  if (filter === undefined || other !== undefined || dump.includes('dynamic_warming_clusters'))
    return false;
  const [, seconds, denies] = filter;
  const [, port] = service.split(':');
  const isAt = new RegExp(`"port_value": ${port}\\b`).test(dump);
  return (
    isAt && Number(seconds) * 1000 === timeout_ms && (denies !== undefined) === failure_mode_deny
  );
}
