import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Echo, startUpstream } from '#envoy/e2e/upstream.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';
import { EDITED, type Edit, mappingsFile } from './mappings.ts';
import { cpuMsOf, type Memory, memoryOf } from './process-usage.ts';

export type WriteToEffect = {
  /** ms from the file's write to the changed answer, when the edit names another service: a new cluster. */
  readonly newCluster: readonly number[];
  /** The same when only the route changes. */
  readonly routeOnly: readonly number[];
  /** Of the control plane, after all edits, in MiB. */
  readonly memory: Memory;
  /** CPU time that one edit takes on the average, in ms. */
  readonly cpuMs: { readonly controlPlane: number; readonly envoy: number };
};

/** Between an effect and the next edit, in ms. Odd, so that edits come at any phase of a timer. */
const PAUSE_MS = 137;

/** How often the client asks while it waits, in ms: the resolution of the figures. */
const POLL_MS = 1;

/** Edits one of `count` Mappings `edits` times in each of two ways, through a real control plane and Envoy. */
export async function measureWriteToEffect(
  count: number,
  edits: number,
  nodeArgs: readonly string[] = [],
): Promise<WriteToEffect> {
  const [first, second] = await Promise.all([startUpstream('first'), startUpstream('second')]);
  let edit: Edit = { servicePort: first.port, hostRewrite: 'host-0.internal' };
  const gateway = await startGatewayProcess(mappingsFile(count, edit), nodeArgs);
  const client = pollingClient(gateway.edge);
  const measure = async (next: Edit, isChanged: (echo: Echo) => boolean) => {
    edit = next;
    const text = mappingsFile(count, edit);
    await delay(PAUSE_MS);
    const begun = performance.now();
    gateway.write(text);
    await client.until(isChanged);
    return performance.now() - begun;
  };
  await client.until(({ hostname }) => hostname === 'first');
  const cpuSince = cpuOf(gateway);
  const newCluster: number[] = [];
  const routeOnly: number[] = [];
  for (let round = 0; round < edits; round++) {
    const target = edit.servicePort === first.port ? second : first;
    const name = target === first ? 'first' : 'second';
    newCluster.push(
      await measure({ ...edit, servicePort: target.port }, ({ hostname }) => hostname === name),
    );
    const hostRewrite = `host-${round + 1}.internal`;
    routeOnly.push(await measure({ ...edit, hostRewrite }, ({ headers }) => headers.host === hostRewrite));
  }
  await delay(PAUSE_MS);
  const cpu = cpuOf(gateway);
  const cpuMs = {
    controlPlane: (cpu.controlPlane - cpuSince.controlPlane) / (2 * edits),
    envoy: (cpu.envoy - cpuSince.envoy) / (2 * edits),
  };
  const memory = memoryOf(gateway.controlPlane);
  client.close();
  await gateway.stop();
  await Promise.all([first.close(), second.close()]);
  return { newCluster, routeOnly, memory, cpuMs };
}

function cpuOf({ controlPlane, envoy }: GatewayProcess) {
  return { controlPlane: cpuMsOf(controlPlane), envoy: cpuMsOf(envoy) };
}

/** Asks for the edited Mapping's path on one connection, again and again. Whatever is not a 200 counts as no answer yet. */
function pollingClient(edge: string) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const ask = () =>
    new Promise<Echo | undefined>(resolve => {
      const request = http.get(`http://${edge}${EDITED}`, { agent }, response => {
        const chunks: Buffer[] = [];
        response.on('data', chunk => chunks.push(chunk));
        response.on('end', () =>
          resolve(response.statusCode === 200 ? JSON.parse(Buffer.concat(chunks).toString()) : undefined),
        );
      });
      request.on('error', () => resolve(undefined));
    });
  const until = async (isChanged: (echo: Echo) => boolean) => {
    for (;;) {
      const echo = await ask();
      if (echo !== undefined && isChanged(echo)) return;
      await delay(POLL_MS);
    }
  };
  return { until, close: () => agent.destroy() };
}
