import type { Load } from '../load.ts';
import { idleShare, readCpuTimes } from '../machine-usage.ts';
import { cpuMsOf } from '../process-usage.ts';
import type { CheckService } from './check-service.ts';
import { checksOf, type Edge } from './edge.ts';
import type { Generator } from './generators.ts';
import { ask } from './sessions.ts';

/** Of the service, its store and Envoy. */
export type ByProcess = { readonly service: number; readonly store: number; readonly envoy: number };

export type Measured = Load & {
  /** CPU time a request, in µs. */
  readonly cpu: ByProcess;
  /** How much of a core each had. */
  readonly busy: ByProcess;
  /** The share of all cores' time in which they had nothing to do, 0 to 1. */
  readonly idle: number;
};

/** Asks the edge for this page. Throws when a single request is not let pass, or not asked about. */
export async function measure(
  edge: Edge,
  service: Pick<CheckService, 'service' | 'store'> | undefined,
  page: string,
  cookies: readonly string[],
  generator: Generator,
): Promise<Measured> {
  const { status } = await ask(edge.port, page, cookies.at(-1) ?? '');
  if (status !== 200) throw new Error(`${page} answers ${status}`);
  const asked = { port: edge.port, page, cookies };
  await generator.warmUp(asked);
  const cpuOf = () => ({
    service: cpuMs(service?.service),
    store: cpuMs(service?.store),
    envoy: cpuMsOf(edge.envoy.pid),
  });
  const [checks, cpu, machine, begun] = [await checksOf(edge), cpuOf(), readCpuTimes(), performance.now()];
  const load = await generator.load(asked);
  const [ms, spent, idle] = [
    performance.now() - begun,
    less(cpuOf(), cpu),
    idleShare(machine, readCpuTimes()),
  ];
  const { ok, others } = await checksOf(edge);
  const { failed, requests } = load;
  const allowed = service === undefined ? requests : ok - checks.ok;
  if (failed > 0 || others > checks.others || allowed < requests)
    throw new Error(`of ${requests} requests ${failed} failed and ${allowed} were allowed`);
  return { ...load, cpu: times(spent, 1_000 / requests), busy: times(spent, 1 / ms), idle };
}

function cpuMs(pid: number | undefined): number {
  return pid === undefined ? 0 : cpuMsOf(pid);
}

function less(a: ByProcess, b: ByProcess): ByProcess {
  return { service: a.service - b.service, store: a.store - b.store, envoy: a.envoy - b.envoy };
}

function times({ envoy, service, store }: ByProcess, factor: number): ByProcess {
  return { service: service * factor, store: store * factor, envoy: envoy * factor };
}
