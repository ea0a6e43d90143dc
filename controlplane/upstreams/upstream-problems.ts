import { problemOf } from '#controlplane/compile/problem-of.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { describeFailure } from './failure.ts';
import type { Trouble } from './troubles.ts';
import { upstreamField } from './upstream-field.ts';

/** One broken service may have thousands of Mappings. */
const MOST_PROBLEMS = 1_000;

/**
 * Returns a Problem at each field that says where a failing service is. They are warnings, since
 * the resources stay in force: the service may come back.
 */
export function upstreamProblems(
  troubles: readonly Trouble[],
  resources: ReadonlyMap<string, Resource>,
): readonly Problem[] {
  const problems = new Map<string, Problem>();
  for (const { failure, since, upstream } of troubles) {
    const message = describeFailure(failure);
    for (const id of upstream.origins) {
      if (problems.size === MOST_PROBLEMS) return [...problems.values()];
      const resource = resources.get(id);
      const field = resource && upstreamField(resource, upstream);
      if (resource === undefined || field === undefined) continue;
      const problem = problemOf(resource, 'warning', field, message);
      const key = JSON.stringify([id, field, message]);
      if (!problems.has(key))
        problems.set(key, { ...problem, since: new Date(since).toISOString() });
    }
  }
  return [...problems.values()];
}
