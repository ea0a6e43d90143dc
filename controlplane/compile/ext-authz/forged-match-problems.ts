import { formatPath } from '#resources/finding.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { headerMatching } from '../header-matching.ts';
import { mappingDomain } from '../mapping-domain.ts';
import { problemOf } from '../problem-of.ts';

type Mapping = Resource<'Mapping'>;

/**
 * Returns a warning for each header in a Mapping's match that Filters inject. The route is chosen
 * before they run.
 */
export function forgedMatchProblems(
  mappings: readonly Mapping[],
  identityHeaders: (domain: string) => readonly string[],
): readonly Problem[] {
  return headerMatching(mappings).flatMap(mapping =>
    (['headers', 'regex_headers'] as const).flatMap(field => {
      const names = Object.keys(mapping.spec[field]);
      const identity = new Set(identityHeaders(mappingDomain(mapping.spec)));
      return names
        .filter(name => identity.has(name))
        .map(name =>
          problemOf(mapping, 'warning', formatPath(['spec', field, name]), messageOf(name)),
        );
    }),
  );
}

function messageOf(name: string): string {
  return `the client chooses this route by a "${name}" of its own: Filters inject that header after the route is chosen. Match by something else`;
}
