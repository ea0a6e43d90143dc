import { setTimeout as delay } from 'node:timers/promises';
import { startUpstream } from '#envoy/e2e/upstream.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';
import { EDITED, type Edit, mappingsFile } from './mappings.ts';
import { type PollingClient, pollingClient } from './polling-client.ts';
import { cpuMsOf, type Memory, memoryOf } from './process-usage.ts';

export type EditTimes = {
  /**
   * ms from the file's write to the changed answer, when the edit names another service, which is a
   * new cluster.
   */
  readonly newCluster: readonly number[];
  /** The same when only the route changes. */
  readonly routeOnly: readonly number[];
};

export type WriteToEffect = EditTimes & {
  /** ms from the start of both processes to the first answer of a service. */
  readonly start: number;
  /** Memory of the control plane, after all edits. */
  readonly memory: Memory;
  /** Mean CPU time of one edit, in ms. Envoy's includes the client's polling. */
  readonly cpuMs: { readonly controlPlane: number; readonly envoy: number };
};

/**
 * The pause between an effect and the next edit, in ms. It is odd, so that edits come at any phase
 * of a timer.
 */
const PAUSE_MS = 137;

const UPSTREAMS = ['first', 'second'] as const;

/**
 * Edits one of `count` Mappings `edits` times in each of two ways, through a real control plane and
 * Envoy. The Mappings lead to so many services. `look` is called before the end.
 */
export async function measureWriteToEffect(
  count: number,
  edits: number,
  services = count,
  look: (gateway: GatewayProcess) => Promise<void> = async () => {},
): Promise<WriteToEffect> {
  const upstreams = await Promise.all(UPSTREAMS.map(name => startUpstream(name)));
  const ports = upstreams.map(({ port }) => port);
  const begun = performance.now();
  const textOf = (edit: Edit) => mappingsFile(count, edit, services);
  const gateway = await startGatewayProcess(textOf(editOf(0, 0, ports)));
  const client = pollingClient(`http://${gateway.edge}${EDITED}`);
  try {
    await client.until(({ hostname }) => hostname === UPSTREAMS[0]);
    const start = performance.now() - begun;
    const before = cpuOf(gateway);
    const times = await measureEdits({ textOf, edits, ports, gateway, client });
    const after = cpuOf(gateway);
    const cpuMs = {
      controlPlane: (after.controlPlane - before.controlPlane) / (2 * edits),
      envoy: (after.envoy - before.envoy) / (2 * edits),
    };
    const memory = memoryOf(gateway.controlPlane);
    await look(gateway);
    return { ...times, start, memory, cpuMs };
  } finally {
    client.close();
    await gateway.stop();
    await Promise.all(upstreams.map(upstream => upstream.close()));
  }
}

type Edits = {
  textOf(edit: Edit): string;
  readonly edits: number;
  readonly ports: readonly number[];
  readonly gateway: GatewayProcess;
  readonly client: PollingClient;
};

async function measureEdits({ textOf, edits, ports, gateway, client }: Edits): Promise<EditTimes> {
  const newCluster: number[] = [];
  const routeOnly: number[] = [];
  const measure = async (edit: Edit, isChanged: Parameters<PollingClient['until']>[0]) => {
    const text = textOf(edit);
    await delay(PAUSE_MS);
    const begun = performance.now();
    gateway.write(text);
    await client.until(isChanged);
    return performance.now() - begun;
  };
  for (let round = 1; round <= edits; round++) {
    const service = UPSTREAMS[round % 2];
    const moved = editOf(round, round - 1, ports);
    newCluster.push(await measure(moved, ({ hostname }) => hostname === service));
    const rewritten = editOf(round, round, ports);
    routeOnly.push(
      await measure(rewritten, ({ headers }) => headers.host === rewritten.hostRewrite),
    );
  }
  await delay(PAUSE_MS);
  return { newCluster, routeOnly };
}

/** Returns the edited Mapping after so many changes of its service and of its rewritten host. */
function editOf(serviceChanges: number, hostChanges: number, ports: readonly number[]): Edit {
  const servicePort = ports[serviceChanges % ports.length] ?? 0;
  return { servicePort, hostRewrite: `host-${hostChanges}.internal` };
}

function cpuOf({ controlPlane, envoy }: GatewayProcess) {
  return { controlPlane: cpuMsOf(controlPlane), envoy: cpuMsOf(envoy) };
}
