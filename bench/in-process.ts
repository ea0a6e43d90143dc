import { type Edit, mappingsFile } from './mappings.ts';
import { pipeline, type Timing } from './pipeline.ts';
import { startPublishing } from './publish-to-ack.ts';

export type InProcess = {
  /** The first run, with nothing cached. */
  readonly first: Timing;
  readonly edits: readonly Timing[];
  /** ms from a snapshot's publication until Envoy has ACKed all of it. */
  readonly acks: { readonly routeOnly: readonly number[]; readonly newCluster: readonly number[] };
};

/** Ports of two services, at which nothing needs to listen. */
const PORTS = [41_001, 41_002] as const;

/**
 * Parses, compiles and encodes `count` Mappings, then with one edited, and publishes each result to
 * a real Envoy.
 */
export async function measureInProcess(count: number, edits: number): Promise<InProcess> {
  const run = pipeline();
  const publishing = await startPublishing();
  let edit: Edit = { servicePort: PORTS[0], hostRewrite: 'host.internal' };
  const start = run(mappingsFile(count, edit));
  await publishing.publish(start.snapshot);
  const timings: Timing[] = [];
  const publish = async (next: Edit) => {
    edit = next;
    const { timing, snapshot } = run(mappingsFile(count, edit));
    timings.push(timing);
    return publishing.publish(snapshot);
  };
  const routeOnly: number[] = [];
  const newCluster: number[] = [];
  for (let round = 0; round < edits; round++) {
    routeOnly.push(await publish({ ...edit, hostRewrite: `host-${round}.internal` }));
    const servicePort = edit.servicePort === PORTS[0] ? PORTS[1] : PORTS[0];
    newCluster.push(await publish({ ...edit, servicePort }));
  }
  await publishing.stop();
  return { first: start.timing, edits: timings, acks: { routeOnly, newCluster } };
}
