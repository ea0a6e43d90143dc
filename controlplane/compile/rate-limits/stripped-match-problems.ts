import { formatPath } from '#resources/finding.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { headerMatching } from '../header-matching.ts';
import { problemOf } from '../problem-of.ts';

/** Headers that are removed from requests before their route is chosen. */
export type RemovedHeaders = {
  /** In lower case. */
  readonly names: readonly string[];
  /** Says what removes one. */
  why(header: string): string;
};

/**
 * Returns a warning for each Mapping that matches on a header which is removed.
 */
export function strippedMatchProblems(
  mappings: readonly Resource<'Mapping'>[],
  { names, why }: RemovedHeaders,
): readonly Problem[] {
  if (names.length === 0) return [];
  const own = new Set(names);
  return headerMatching(mappings).flatMap(mapping =>
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
