import type { ParsedFile } from '#resources/parse/parsed-file.ts';
import type { Problem } from '#resources/problem.ts';

/**
 * Returns the Problems of a file, with those that are told later: misspelt restrictions, once it is
 * known whether the Module's `ignore` lists them.
 */
export function toldProblems({
  problems,
  resources,
}: ParsedFile): readonly Pick<Problem, 'field' | 'message'>[] {
  const misspelt = resources.flatMap(({ unserved = [] }) =>
    unserved.flatMap(({ meant, name }) =>
      meant === undefined ? [] : [{ message: `unknown field \`${name}\`` }],
    ),
  );
  return [...problems, ...misspelt];
}
