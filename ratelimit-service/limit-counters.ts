import type { Label } from '#resources/labels/label-pattern.ts';
import { labelsOf } from './group-key.ts';
import type { Limit } from './limit.ts';
import type { LimitOutcome } from './limit-tallies.ts';
import type { TopKey } from './top-keys.ts';

/** LimitCounters of knowledge.proto. */
export type LimitCounters = {
  readonly limit: string;
  readonly domain: string;
  readonly rate: number;
  readonly within: number;
  readonly near: number;
  readonly over: number;
  readonly over_log_only: number;
  readonly keys: readonly {
    readonly labels: readonly Label[];
    readonly count: number;
    readonly ends_ms: number;
  }[];
};

export function limitCounters(
  { domain, name: limit, rate }: Pick<Limit, 'domain' | 'name' | 'rate'>,
  tally: Readonly<Record<LimitOutcome, number>> | undefined,
  top: readonly TopKey[],
): LimitCounters {
  return {
    ...{ limit, domain, rate },
    within: tally?.within_limit ?? 0,
    near: tally?.near_limit ?? 0,
    over: tally?.over_limit ?? 0,
    over_log_only: tally?.over_limit_log_only ?? 0,
    keys: top.map(({ count, ends, group }) => ({ labels: labelsOf(group), count, ends_ms: ends })),
  };
}

/**
 * Joins what several processes know. Each outcome was counted by one of them. A counter that
 * several have seen is the highest of theirs, since counts only rise.
 */
export function joinedCounters(
  all: readonly (readonly LimitCounters[])[],
  most: number,
): readonly LimitCounters[] {
  return [...Map.groupBy(all.flatMap(eachNameOnce), nameOf).values()].flatMap(same => {
    const [first] = same;
    if (first === undefined) return [];
    const sum = (pick: (counters: LimitCounters) => number) =>
      same.reduce((total, each) => total + pick(each), 0);
    return {
      ...first,
      within: sum(({ within }) => within),
      near: sum(({ near }) => near),
      over: sum(({ over }) => over),
      over_log_only: sum(({ over_log_only }) => over_log_only),
      keys: highest(
        same.flatMap(({ keys }) => keys),
        most,
      ),
    };
  });
}

/** A process counts outcomes by name. So limits of one name all have the outcomes of all. */
function eachNameOnce(ofProcess: readonly LimitCounters[]): readonly LimitCounters[] {
  return [...Map.groupBy(ofProcess, nameOf).values()].flatMap(same => {
    const [first] = same;
    return first === undefined ? [] : { ...first, keys: same.flatMap(({ keys }) => keys) };
  });
}

/** Both are any text. */
function nameOf({ domain, limit }: LimitCounters): string {
  return JSON.stringify([domain, limit]);
}

type Keys = LimitCounters['keys'];

function highest(keys: Keys, most: number): Keys {
  const sorted = [...keys].sort((a, b) => b.count - a.count);
  const known = new Set<string>();
  const isNew = (text: string) => !known.has(text) && known.add(text);
  return sorted.filter(({ labels }) => isNew(JSON.stringify(labels))).slice(0, most);
}
