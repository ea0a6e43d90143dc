import { request } from '#envoy/e2e/request.ts';
import { byChance } from '../cpu-in-turn.ts';
import type { Load } from '../load.ts';
import { idleShare, readCpuTimes } from '../machine-usage.ts';
import { cpuMsOf } from '../process-usage.ts';
import type { DecisionService } from '../service-process.ts';
import { checksOf, type Edge } from './edge.ts';
import type { Generator } from './generators.ts';
import { HOST } from './site.ts';

/** What is measured: an edge with the service that it asks, if any, and its requests. */
export type Subject = {
  readonly edge: Edge;
  readonly service: Pick<DecisionService, 'service' | 'store'> | undefined;
  readonly page: string;
  readonly cookies: readonly string[];
};

/** CPU time by process: the service, its store and Envoy. */
export type ByProcess = {
  readonly service: number;
  readonly store: number;
  readonly envoy: number;
};

export type Round = Load & {
  /** How long it took, and CPU time, in ms. */
  readonly took: number;
  readonly cpu: ByProcess;
  /** The share of all cores' time in which they were idle, 0 to 1. */
  readonly idle: number;
};

/**
 * Runs so many rounds, each of which measures all subjects in an order by chance. So what disturbs
 * the machine disturbs all alike. Returns each one's rounds. Throws when a single request
 * is not allowed, or not checked.
 */
export async function measureInTurn(
  subjects: readonly Subject[],
  generator: Generator,
  rounds: number,
): Promise<readonly (readonly Round[])[]> {
  for (const subject of subjects) await warmUp(subject, generator);
  const measured = subjects.map(of => ({ of, rounds: [] as Round[] }));
  for (let round = 0; round < rounds; round++) {
    for (const { of, rounds } of byChance(measured)) rounds.push(await measureRound(of, generator));
  }
  return measured.map(({ rounds }) => rounds);
}

async function warmUp({ cookies, edge, page }: Subject, generator: Generator): Promise<void> {
  const headers = { host: HOST, accept: 'text/html', cookie: cookies.at(-1) ?? '' };
  const { status } = await request(`http://127.0.0.1:${edge.port}`, page, { headers });
  if (status !== 200) throw new Error(`${page} answers ${status}`);
  await generator.warmUp({ port: edge.port, page, cookies });
}

async function measureRound(subject: Subject, generator: Generator): Promise<Round> {
  const { cookies, edge, page, service } = subject;
  const [checks, cpu, machine, begun] = [
    await checksOf(edge),
    cpuOf(subject),
    readCpuTimes(),
    performance.now(),
  ];
  const load = await generator.load({ port: edge.port, page, cookies });
  const took = performance.now() - begun;
  const [spent, idle] = [less(cpuOf(subject), cpu), idleShare(machine, readCpuTimes())];
  const { ok, others } = await checksOf(edge);
  const { failed, requests } = load;
  const allowed = service === undefined ? requests : ok - checks.ok;
  if (failed > 0 || others > checks.others || allowed < requests)
    throw new Error(`of ${requests} requests ${failed} failed and ${allowed} were allowed`);
  return { ...load, took, cpu: spent, idle };
}

function cpuOf({ edge, service }: Subject): ByProcess {
  const of = (pid: number | undefined) => (pid === undefined ? 0 : cpuMsOf(pid));
  return { service: of(service?.service), store: of(service?.store), envoy: of(edge.envoy.pid) };
}

function less(a: ByProcess, b: ByProcess): ByProcess {
  return { service: a.service - b.service, store: a.store - b.store, envoy: a.envoy - b.envoy };
}
