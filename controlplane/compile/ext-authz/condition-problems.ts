import { injectedBy } from '#resources/kinds/filter/injected-headers.ts';
import type {
  FilterReference,
  TargetFilter,
} from '#resources/kinds/filter-policy/filter-policy.ts';
import type { HeaderCondition } from '#resources/match/header-condition.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { problemOf } from '../problem-of.ts';

type AnyFilter = FilterReference | TargetFilter;
type FindFilter = (item: AnyFilter) => Resource<'Filter'> | undefined;

/**
 * Returns a warning for each condition of a list of Filters that reads a header which the list
 * itself sets, at that Filter or later. Such a header is removed from what the client sent, so the
 * condition never sees one.
 */
export function conditionProblems(
  policy: Resource<'FilterPolicy'>,
  filters: readonly AnyFilter[],
  field: string,
  find: FindFilter,
): readonly Problem[] {
  const setters = filters.map(item => {
    const filter = find(item);
    return filter === undefined ? [] : injectedBy(filter);
  });
  return filters.flatMap((item, at) => {
    const later = new Map(
      setters.flatMap((names, index) =>
        index < at ? [] : names.map(name => [name, filters[index]?.name] as const),
      ),
    );
    const earlier = new Set(setters.slice(0, at).flat());
    const warn = (place: string, condition: HeaderCondition | undefined) => {
      const name = condition?.name.toLowerCase() ?? '';
      const setter = later.get(name);
      if (condition === undefined || setter === undefined || earlier.has(name)) return [];
      if (name === 'authorization') return [];
      const always = condition.negate ? 'always' : 'never';
      const message = `it ${always} holds: the Filter ${setter} sets the header "${condition.name}", so the client's own is removed first. Read another header`;
      return [problemOf(policy, 'warning', place, message)];
    };
    const instead = item.arguments.insteadOfRedirect?.ifRequestHeader;
    return [
      ...warn(`${field}[${at}].ifRequestHeader`, item.ifRequestHeader),
      ...warn(`${field}[${at}].arguments.insteadOfRedirect.ifRequestHeader`, instead),
    ];
  });
}
