import { formatPath } from '#resources/finding.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { problemOf } from '../problem-of.ts';

/**
 * Returns a warning for each Mapping that matches on a header which is removed from requests before
 * their route is chosen. `why` says what removes it.
 */
export function strippedMatchProblems(
  mappings: readonly Resource<'Mapping'>[],
  removed: readonly string[],
  why: (header: string) => string,
): readonly Problem[] {
  if (removed.length === 0) return [];
  const own = new Set(removed);
  return mappings.flatMap(mapping =>
    (['headers', 'regex_headers'] as const)
      .flatMap(field => Object.keys(mapping.spec[field]).map(header => ({ field, header })))
      .filter(({ header }) => own.has(header))
      .map(({ field, header }) =>
        problemOf(
          mapping,
          'warning',
          formatPath(['spec', field, header]),
          `${why(header)}: no request meets this Mapping. Choose another header`,
        ),
      ),
  );
}
