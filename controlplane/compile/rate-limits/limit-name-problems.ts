import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { problemOf } from '../problem-of.ts';
import { limitField } from './limit-field.ts';
import { limitNames } from './limit-name.ts';

/** Returns a warning for each limit that has the name of an earlier one, in any RateLimit. */
export function limitNameProblems(
  rateLimits: readonly Resource<'RateLimit'>[],
): readonly Problem[] {
  const owners = new Map<string, Resource<'RateLimit'>>();
  return rateLimits.flatMap(rateLimit =>
    limitNames(rateLimit).flatMap((name, index) => {
      const owner = owners.get(name);
      if (owner === undefined) owners.set(name, rateLimit);
      return owner === undefined ? [] : [sameName(rateLimit, index, name, owner)];
    }),
  );
}

function sameName(
  rateLimit: Resource<'RateLimit'>,
  index: number,
  limit: string,
  { namespace, name }: Resource<'RateLimit'>,
): Problem {
  return problemOf(
    rateLimit,
    'warning',
    `${limitField(rateLimit, index)}.name`,
    `a limit of RateLimit ${namespace}/${name} is called ${JSON.stringify(limit)} too: logs and metrics cannot tell them apart`,
  );
}
