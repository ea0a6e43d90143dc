import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { compile } from '#controlplane/compile/compile.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { FIGURES_DEFINITIONS } from '#controlplane/figures/figures-service.ts';
import { openFigures } from '#controlplane/figures/open-figures.ts';
import { serve } from '#grpc/serve.ts';
import { after } from '#process/after.ts';
import { endProcess } from '../end-process.ts';
import { clusterName, type SimulatedProxy } from './simulated-pushes.ts';

export type ServiceCost = {
  readonly messages: number;
  readonly bytes: number;
  /** CPU of the service for one flush of all proxies, in ms. */
  readonly cpuMs: number;
  /** The longest time in which nothing else ran, in ms. */
  readonly longestMs: number;
  /** MiB of the process after these flushes. */
  readonly rss: number;
};

const AT = (port: number) => ({ host: '127.0.0.1', port });
const OPTIONS = { edge: AT(8080), sds: AT(1), extAuthz: AT(2), rateLimit: AT(3) };

/** Compiles so many Mappings of the edge, and a few for each group of application proxies. */
export function configuredFigures(routes: number) {
  const documents = Array.from(
    { length: routes },
    (_, number) => `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: m${number} }
spec: { host: shop-${number % 20}.example.com, prefix: /m${number}/, service: ${clusterName(number)} }
`,
  );
  const opened = openFigures({
    connected: () => [],
    replicated: false,
    on: true,
    refuse: () => undefined,
    failed: error => {
      throw error;
    },
    now: Date.now,
    after,
  });
  opened.compiled(
    'edge',
    compile(resourceSetOf(documents.join('---\n')).resources, 'edge', OPTIONS),
  );
  return opened;
}

/** Lets two edges with all routes in use and many application proxies flush, over real gRPC. */
export async function measureService(
  routes: number,
  proxies: number,
  flushes: number,
): Promise<ServiceCost> {
  const { services } = configuredFigures(routes);
  const served = await serve({ ...AT(0), services, definitions: FIGURES_DEFINITIONS });
  const all = Array.from({ length: routes }, (_, number) => number);
  const simulated = Array.from({ length: proxies }, (_, number): SimulatedProxy => {
    const isEdge = number < 2;
    const group = isEdge ? 'edge' : `application-${number}`;
    return { id: `${group}-${number}`, group, isEdge, mappings: isEdge ? all : [number] };
  });
  const child = fork(join(import.meta.dirname, 'send-pushes.ts'), [
    String(served.port),
    JSON.stringify(simulated),
  ]);
  const [size] = (await once(child, 'message')) as [{ messages: number; bytes: number }];
  const flush = async () => {
    child.send('flush');
    await once(child, 'message');
  };
  await flush();
  const longest = watchLongest();
  const before = process.cpuUsage();
  for (let round = 0; round < flushes; round++) await flush();
  const { user, system } = process.cpuUsage(before);
  const longestMs = longest.stop();
  await endProcess(child);
  await served.stop(0);
  const rss = process.memoryUsage.rss() / 2 ** 20;
  return { ...size, cpuMs: (user + system) / 1_000 / flushes, longestMs, rss };
}

function watchLongest() {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    const present = performance.now();
    longest = Math.max(longest, present - last);
    last = present;
  }, 1);
  return {
    stop: () => {
      clearInterval(timer);
      return longest;
    },
  };
}
