import { existsSync, readFileSync } from 'node:fs';
import { seededRandom } from '#protos/testing/random.ts';
import type { Gateway } from '../gateway.ts';
import { type Target, targetsOf } from './targets.ts';

/** How often a port was attacked in one way, and how often it answered. */
export type Count = { sent: number; answered: number };

export type AttackReport = {
  readonly counts: ReadonlyMap<string, Count>;
  /** The processes that ended meanwhile. */
  readonly exits: readonly string[];
  /** Resident memory by process in MiB, before and after. */
  readonly memory: ReadonlyMap<string, { readonly before: number; readonly after: number }>;
};

const MIB_KIB = 1_024;

/** Attacks every port of a gateway in turn, with the seeds from `first` on, while `goesOn`. */
export async function attack(
  gateway: Gateway,
  options: { readonly first: number; readonly workers: number; goesOn(seed: number): boolean },
): Promise<AttackReport> {
  const targets = targetsOf(gateway);
  const counts = new Map(targets.map(({ name }) => [name, { sent: 0, answered: 0 }]));
  const before = await processesOf(gateway);
  let seed = options.first;
  const run = async () => {
    while (options.goesOn(seed)) {
      const random = seededRandom(seed);
      const target = targets[seed % targets.length] as Target;
      seed += 1;
      const count = counts.get(target.name) as Count;
      count.sent += 1;
      if (await target.attack(random)) count.answered += 1;
    }
  };
  await Promise.all(Array.from({ length: options.workers }, run));
  // A supervisor that does not answer has ended, with all its processes.
  const after = await processesOf(gateway).catch((): Running => new Map());
  return { counts, exits: exitsOf(before, after), memory: memoryOf(before, after) };
}

type Running = ReadonlyMap<
  string,
  { readonly pid: number | undefined; readonly restarts: number; readonly mib: number }
>;

async function processesOf(gateway: Gateway): Promise<Running> {
  const { pid, processes } = await gateway.status();
  const all = [{ name: 'supervisor', pid, restarts: 0 }, ...processes];
  return new Map(
    all.map(({ name, pid: its, restarts }) => [
      name,
      { pid: its, restarts, mib: residentMib(its) },
    ]),
  );
}

function exitsOf(before: Running, after: Running): readonly string[] {
  return [...before].flatMap(([name, { pid, restarts }]) => {
    const now = after.get(name);
    const isSame = now !== undefined && now.pid === pid && now.restarts === restarts;
    return isSame ? [] : [`${name} (${(now?.restarts ?? 0) - restarts} restarts)`];
  });
}

function memoryOf(before: Running, after: Running): AttackReport['memory'] {
  return new Map(
    [...after].map(([name, { mib }]) => [name, { before: before.get(name)?.mib ?? 0, after: mib }]),
  );
}

function residentMib(pid: number | undefined): number {
  const path = `/proc/${pid}/status`;
  // The process has ended, or the system has no such files.
  if (!existsSync(path)) return 0;
  const status = readFileSync(path, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / MIB_KIB;
}
