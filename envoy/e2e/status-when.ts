import type { Status } from '#controlplane/status/status.ts';
import { until } from './until.ts';

/**
 * Polls the control plane's status until it is as wanted, also while the control plane restarts and
 * does not answer. What was still wrong is part of the failure.
 */
export async function statusWhen(
  ask: () => Promise<Status>,
  wanted: (status: Status) => boolean,
  withinMs = 90_000,
): Promise<Status> {
  let last: Status | undefined;
  const look = async () => {
    last = await ask().catch(() => undefined);
    return last !== undefined && wanted(last) ? last : undefined;
  };
  return until(look, withinMs, wanted.toString()).catch((error: unknown) => {
    throw new Error(`${error}. The last status was ${describeStatus(last)}`);
  });
}

/** Describes what is not as it should be. */
function describeStatus(status: Status | undefined): string {
  const resources = status?.resources.filter(({ state }) => state !== 'in force');
  const proxies = status?.proxies.map(({ node, standing }) => `${node} ${standing}`);
  return JSON.stringify(
    { ready: status?.ready, resources, problems: status?.problems, proxies },
    null,
    1,
  );
}
