import { eventually } from './eventually.ts';
import { tryHttpRequest } from './http-request.ts';

export type DrainOptions = {
  /** Whether to refuse new connections from now on. */
  readonly closeListeners: boolean;
  readonly now: () => number;
  /** The longest that it may take, in ms. */
  readonly ms: number;
};

type Activity = { readonly connections: number; readonly requests: number };

/** Open connections count as idle when no request was in flight for this time, in ms. */
const QUIET_MS = 300;

/**
 * Lets an Envoy finish what it has begun. With each further answer it closes the connection.
 * Resolves when no connection is left, when there was no request for a while, when the time has
 * passed, or when the Envoy is gone. Source: Envoy's page "Draining".
 */
export async function drainEnvoy(
  admin: string,
  { closeListeners, now, ms }: DrainOptions,
): Promise<void> {
  await tryHttpRequest({ address: admin, method: 'POST', path: '/healthcheck/fail' });
  if (closeListeners)
    await tryHttpRequest({ address: admin, method: 'POST', path: '/drain_listeners' });
  let busyAt = now();
  await eventually(async () => {
    const activity = await activityOf(admin);
    if (activity === undefined || activity.connections === 0) return true;
    if (activity.requests > 0) busyAt = now();
    return now() - busyAt > QUIET_MS;
  }, ms);
}

async function activityOf(admin: string): Promise<Activity | undefined> {
  const path = '/stats?filter=%5Ehttp%5C..*downstream_(cx%7Crq)_active%24';
  const answer = await tryHttpRequest({ address: admin, path });
  return answer?.status === 200 ? parseActivity(answer.body) : undefined;
}

/**
 * Sums over all listeners but the admin interface, which serves this very request. Lines are
 * `http.<prefix>.<name>: <n>`.
 */
export function parseActivity(stats: string): Activity {
  const sum = (name: string) =>
    stats
      .split('\n')
      .filter(line => line.includes(`.${name}: `) && !line.startsWith('http.admin.'))
      .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0);
  return { connections: sum('downstream_cx_active'), requests: sum('downstream_rq_active') };
}
