import { cpuMsOf } from './process-usage.ts';
import type { Rounds } from './rounds.ts';

/** One of the things that are compared. */
export type Arm = {
  /** Processes whose CPU is its cost. */
  readonly pids: readonly number[];
  /** Sends all requests of a round. */
  send(): Promise<void>;
};

/**
 * Sends to all of these in rounds, each in an order of its own by chance. So what disturbs the
 * machine disturbs all alike, and so does what one of them leaves to the next. The first time warms
 * up. Returns the CPU of each one's processes for one request, in µs.
 */
export async function cpuInTurn(
  arms: readonly Arm[],
  { requests, rounds }: Pick<Rounds, 'requests' | 'rounds'>,
): Promise<readonly (readonly number[])[]> {
  for (const arm of arms) await arm.send();
  const spent = arms.map(({ pids }) => pids.map(() => 0));
  for (let round = 0; round < rounds; round++) {
    for (const [at, arm] of byChance([...arms.entries()])) {
      const before = arm.pids.map(cpuMsOf);
      await arm.send();
      const used = arm.pids.map((pid, n) => cpuMsOf(pid) - (before[n] ?? 0));
      spent[at] = used.map((ms, n) => ms + (spent[at]?.[n] ?? 0));
    }
  }
  return spent.map(ofPids => ofPids.map(ms => (ms * 1_000) / (rounds * requests)));
}

/** Returns the items in an order by chance. */
export function byChance<T>(items: readonly T[]): readonly T[] {
  const drawn = items.map(item => ({ item, chance: Math.random() }));
  return drawn.sort((a, b) => a.chance - b.chance).map(({ item }) => item);
}
