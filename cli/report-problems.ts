import { describeProblem, withoutAlike } from '#controlplane/rollout/problems.ts';
import type { Problem } from '#resources/problem.ts';

/**
 * Writes a line for each Problem to stderr, and sets the exit code to 1 when one is an error, else
 * 0.
 */
export function reportProblems(problems: readonly Problem[]): void {
  for (const problem of withoutAlike(problems))
    process.stderr.write(`${describeProblem(problem)}\n`);
  process.exitCode = exitCodeFor(problems);
}

/** A warning alone does not fail a command. */
export function exitCodeFor(problems: readonly Problem[]): 0 | 1 {
  return problems.some(({ severity }) => severity === 'error') ? 1 : 0;
}
