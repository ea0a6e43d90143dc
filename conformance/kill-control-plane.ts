import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '#protos/testing/random.ts';
import type { TestNode } from '../deploy/testing/node/start-node.ts';

/** Between two kills, in ms. */
const SHORTEST_MS = 5_000;
const LONGEST_MS = 20_000;

/**
 * Sends SIGKILL to control planes at random moments until the signal aborts, to one of them or to
 * all. The node starts their containers again, with the state that they had. The same seed gives
 * the same moments. Resolves with the number of kills.
 */
export async function killControlPlanes(
  { pods }: Pick<TestNode, 'pods'>,
  seed: number,
  signal: AbortSignal,
): Promise<number> {
  const random = seededRandom(seed);
  for (let kills = 0; ; ) {
    const ms = SHORTEST_MS + random() * (LONGEST_MS - SHORTEST_MS);
    const [one, isForAll] = [random(), random() < 1 / 3];
    const slept = await delay(ms, true, { signal }).catch(() => false);
    if (!slept) return kills;
    const planes = [...pods.values()].flatMap(({ containers }) =>
      [...containers].filter(([name]) => name === 'controlplane').map(([, each]) => each),
    );
    const chosen = isForAll ? planes : planes.slice(one * planes.length).slice(0, 1);
    for (const { process } of chosen) if (process.kill('SIGKILL')) kills += 1;
  }
}
