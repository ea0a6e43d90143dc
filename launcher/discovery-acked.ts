import { eventually } from './eventually.ts';
import { tryHttpRequest } from './http-request.ts';
import { SERVICE } from './instance-files.ts';

/** A proxy that is gone or stuck holds up the others for at most this time, in ms. */
const ACK_MS = 3_000;

/** The longest wait for a discovery service that does not answer, in ms. */
const AWAY_MS = 30_000;

/**
 * Waits until the discovery service at `address` no longer lists the instance, and every proxy that
 * follows it has ACKed that. From then on no new request goes to the instance. Gives up 3 s after
 * the service answers, after 36 s in all, and as soon as `isStopping`.
 */
export async function discoveryAcked(
  address: string,
  hostname: string,
  isStopping: () => boolean,
): Promise<void> {
  const isDone = async () => isStopping() || isGone(await statusOf(address), hostname);
  const answers = async () => isStopping() || (await statusOf(address)) !== undefined;
  if ((await eventually(isDone, ACK_MS)) || (await answers())) return;
  await eventually(answers, AWAY_MS);
  await eventually(isDone, ACK_MS);
}

type DiscoveryStatus = {
  readonly services: Readonly<
    Record<string, { instances: { hostname?: string }[]; acked: boolean }>
  >;
};

/** Returns undefined when it does not answer. */
async function statusOf(address: string): Promise<DiscoveryStatus | undefined> {
  const answer = await tryHttpRequest({ address, path: '/status' });
  return answer?.status === 200 ? JSON.parse(answer.body) : undefined;
}

function isGone(status: DiscoveryStatus | undefined, hostname: string): boolean {
  if (status === undefined) return false;
  const service = status.services[SERVICE];
  if (service === undefined) return true;
  return service.acked && service.instances.every(instance => instance.hostname !== hostname);
}
