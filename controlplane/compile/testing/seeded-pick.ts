import { seededRandom } from '#protos/testing/random.ts';

/** Chances that are the same for the same seed. */
export type Chances = {
  /** From 0 to 1. */
  readonly random: () => number;
  readonly pick: <T>(items: readonly T[]) => T;
  readonly chance: (share: number) => boolean;
};

export function chancesOf(seed: number): Chances {
  const random = seededRandom(seed);
  return {
    random,
    pick: items => items[Math.floor(random() * items.length)] as (typeof items)[number],
    chance: share => random() < share,
  };
}
