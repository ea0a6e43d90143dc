import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { cases } from '#protos/testing/cases.ts';
import { seededRandom } from '#protos/testing/random.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Difference } from '../difference.ts';
import { differing } from './differing.ts';
import {
  changedWorld,
  type Explain,
  explaining,
  type RandomDocument,
  type RandomRequest,
  randomRequest,
  textOf,
} from './random-world.ts';

/** What is in force, before the change or after it. */
export type Side = { readonly resources: ResourceSet; readonly explain: Explain };

/** A random request, and a random change of what is in force. */
export type Fuzzed = {
  readonly request: RandomRequest;
  readonly was: Side;
  readonly is: Side;
  readonly difference: Difference;
  /** Returns what to say when the difference is wrong. */
  told(more: unknown): string;
};

const SEEDS = cases({ all: 40, quick: 20 });
const REQUESTS = 32;

/**
 * Calls `check` with random requests to random worlds. `victims` are the documents of which one
 * changes. A world without any is left out. Returns how often `check` was true.
 */
export function fuzz(
  world: (random: () => number) => readonly RandomDocument[],
  check: (fuzzed: Fuzzed) => boolean,
  victims: (docs: readonly RandomDocument[]) => readonly RandomDocument[] = docs => docs,
): number {
  let count = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = seededRandom(seed);
    const docs = world(random);
    const some = victims(docs);
    if (some.length === 0) continue;
    const [before, after] = [textOf(docs), textOf(changedWorld(docs, random, some))];
    const difference = differing(before, after);
    const [was, is] = [sideOf(before), sideOf(after)];
    for (let number = 0; number < REQUESTS; number++) {
      const request = randomRequest(random);
      const told = (more: unknown) =>
        `seed ${seed}: ${JSON.stringify(request)} ${JSON.stringify(more)}\n${before}\n=== then\n${after}`;
      if (check({ request, was, is, difference, told })) count += 1;
    }
  }
  return count;
}

function sideOf(text: string): Side {
  const { resources } = resourceSetOf(text);
  return { resources, explain: explaining(resources) };
}
