import type { Problem } from '#resources/problem.ts';
import { compareText } from '#resources/words/order.ts';

/** A Problem as a screen lists it. */
export type ProblemRow = Problem & { readonly id: string };

/** Returns Problems with errors first, else in the order of their places. */
export function problemRows(problems: readonly Problem[]): readonly ProblemRow[] {
  return problems
    .map(problem => ({ ...problem, id: problemId(problem) }))
    .sort(
      (a, b) =>
        Number(b.severity === 'error') - Number(a.severity === 'error') ||
        compareText(a.file, b.file) ||
        a.line - b.line,
    );
}

/** Returns the Problems of a resource. */
export function problemsOf(id: string, problems: readonly Problem[]): readonly ProblemRow[] {
  return problemRows(problems.filter(each => problemId(each) === id));
}

/** Returns the id of the resource that a Problem is about. */
export function problemId({ kind, namespace, name }: Problem): string {
  return `${kind}/${namespace}/${name}`;
}
