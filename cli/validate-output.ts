import { describeProblem } from '#controlplane/rollout/problems.ts';
import type { Problem } from '#resources/problem.ts';
import { toGithub } from './github-output.ts';
import { toSarif } from './sarif-output.ts';

/** What `gateway validate` found. */
export type Validated = {
  /** The number of resources without an error. */
  readonly good: number;
  readonly problems: readonly Problem[];
  /** What else is to be known, in lines. */
  readonly notes: readonly string[];
};

/** What `--output` may be. */
export const OUTPUTS = {
  text: toText,
  json: toJson,
  github: (found: Validated) => toGithub(found.problems) + summaryOf(found),
  sarif: (found: Validated) => toSarif(found.problems),
} as const satisfies Readonly<Record<string, (found: Validated) => string>>;

export type Output = keyof typeof OUTPUTS;

function toText(found: Validated): string {
  return `${found.problems.map(problem => `${describeProblem(problem)}\n`).join('')}${summaryOf(found)}`;
}

function toJson({ good, problems, notes }: Validated): string {
  return `${JSON.stringify({ resources: good, problems, notes }, null, 2)}\n`;
}

function summaryOf({ good, problems, notes }: Validated): string {
  const summary = `${count(good, 'resource')} good, ${count(problems.length, 'problem')}`;
  return [...notes, summary, ''].join('\n');
}

/** Returns `1 problem`, `2 problems`. */
export function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
