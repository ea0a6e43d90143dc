import { cpuMsOf } from '../process-usage.ts';
import { type LoadOptions, runWrk } from '../wrk.ts';
import type { CheckService } from './check-service.ts';
import { checksOf, type Edge } from './edge.ts';
import { ask } from './sessions.ts';
import { HOST } from './site.ts';

export type Measured = {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** CPU time a request, in µs. */
  readonly service: number;
  readonly store: number;
  readonly envoy: number;
};

export const CONNECTIONS = 16;
export const WARM_UP_SECONDS = 3;
const MOST_WARM_UPS = 5;

/** Asks the edge for this page for so many seconds. Throws when a single request is not let pass, or not asked about. */
export async function measure(
  edge: Edge,
  service: Pick<CheckService, 'service' | 'store'> | undefined,
  page: string,
  cookies: readonly string[],
  seconds: number,
): Promise<Measured> {
  const { status } = await ask(edge.port, page, cookies.at(-1) ?? '');
  if (status !== 200) throw new Error(`${page} answers ${status}`);
  const url = `http://127.0.0.1:${edge.port}${page}`;
  const options = { connections: CONNECTIONS, headers: { Host: HOST }, cookies };
  await warmUp(url, options);
  const processes = [service?.service, service?.store, edge.envoy.pid];
  const [before, checks] = [processes.map(cpuOf), await checksOf(edge)];
  const load = await runWrk(url, seconds, options);
  const { failed, p50, p99, perSecond, requests } = load;
  const [ofService = 0, ofStore = 0, ofEnvoy = 0] = processes.map(
    (pid, at) => ((cpuOf(pid) - (before[at] ?? 0)) * 1000) / requests,
  );
  const { ok, others } = await checksOf(edge);
  const allowed = service === undefined ? requests : ok - checks.ok;
  if (failed > 0 || others > checks.others || allowed < requests)
    throw new Error(`of ${requests} requests ${failed} failed and ${allowed} were allowed`);
  return { perSecond, p50, p99, service: ofService, store: ofStore, envoy: ofEnvoy };
}

/** Until each session was used. */
async function warmUp(url: string, options: LoadOptions & { readonly cookies: readonly string[] }) {
  for (let tries = 1; tries <= MOST_WARM_UPS; tries++) {
    const { requests } = await runWrk(url, tries * WARM_UP_SECONDS, options);
    if (requests >= options.cookies.length) return;
  }
  throw new Error(
    `${options.cookies.length} sessions cannot be used in ${MOST_WARM_UPS * WARM_UP_SECONDS} s`,
  );
}

function cpuOf(pid: number | undefined): number {
  return pid === undefined ? 0 : cpuMsOf(pid);
}
