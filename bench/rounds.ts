import { parseArgs } from 'node:util';

/** How often and how much is measured. */
export type Rounds = {
  readonly rounds: number;
  /** Requests of each round. */
  readonly requests: number;
  /** Whether the page of results is written. */
  readonly write: boolean;
};

/** The rounds of a run that shows only that all of it works. */
const QUICK_ROUNDS = 2;

/**
 * Reads the options `--rounds`, `--requests` of a round, `--quick` and `--write`. `requests` is the
 * default, and `quick` what `--quick` sends.
 */
export function askedRounds({ requests, quick }: { requests: number; quick: number }): Rounds {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '12' },
      requests: { type: 'string', default: String(requests) },
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  });
  const { write } = values;
  if (values.quick) return { rounds: QUICK_ROUNDS, requests: quick, write };
  return { rounds: Number(values.rounds), requests: Number(values.requests), write };
}
