import type { Collected } from '#resources/parse/collect.ts';
import type { Problem } from '#resources/problem.ts';

/**
 * Returns a Problem for each path when none of them has a resource, and no error says why. A check
 * of nothing must not pass, because a wrong path or a failed command before it looks the same.
 */
export function nothingRead(
  paths: readonly string[],
  { problems, rejected, resources, unreadable }: Collected,
): readonly Problem[] {
  const isTold = problems.some(({ severity }) => severity === 'error');
  if (isTold || resources.size + rejected.size + unreadable.size > 0) return [];
  return paths.map(file => ({
    severity: 'error',
    kind: '',
    namespace: '',
    name: '',
    file,
    line: 0,
    message: 'there is no resource for this gateway in it',
  }));
}
