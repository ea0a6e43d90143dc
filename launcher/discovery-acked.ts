import { eventually } from './eventually.ts';
import { tryHttpRequest } from './http-request.ts';
import { SERVICE } from './instance-files.ts';

/** A proxy that is gone or stuck holds up the others for at most this time, in ms. */
const ACK_MS = 3_000;

/**
 * Waits until the discovery service at `address` no longer lists the instance, and every proxy that
 * follows it has ACKed that. From then on no new request goes to the instance. Gives up after 3 s.
 */
export async function discoveryAcked(address: string, hostname: string): Promise<void> {
  await eventually(async () => {
    const answer = await tryHttpRequest({ address, path: '/status' });
    return answer?.status === 200 && isGone(JSON.parse(answer.body), hostname);
  }, ACK_MS);
}

type DiscoveryStatus = {
  readonly services: Readonly<
    Record<string, { instances: { hostname?: string }[]; acked: boolean }>
  >;
};

function isGone({ services }: DiscoveryStatus, hostname: string): boolean {
  const service = services[SERVICE];
  if (service === undefined) return true;
  return service.acked && service.instances.every(instance => instance.hostname !== hostname);
}
