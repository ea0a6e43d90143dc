import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { HostPort } from '#resources/words/host.ts';
import { problemOf } from '../problem-of.ts';

/**
 * Returns warnings about an operator's own rate limit service: it does not count RateLimits, and it
 * gets labels that the built-in one would shorten. `builtIn` is the address of the built-in one.
 */
export function operatorServiceProblems(
  { rateLimits, rateLimitServices: [service] }: ResourceSet,
  paths: readonly string[],
  builtIn: HostPort,
): readonly Problem[] {
  if (service === undefined) return [];
  return [
    ...(rateLimits.length === 0 || isBuiltIn(service, builtIn) ? [] : [UNCOUNTED]),
    ...(paths.length === 0 ? [] : [wholePaths(paths)]),
  ].map(message => problemOf(service, 'warning', 'spec.service', message));
}

const UNCOUNTED =
  'RateLimits have no effect, because this service is asked instead of the built-in one, which counts them. Remove it, unless this is another address of the built-in one';

function wholePaths(paths: readonly string[]): string {
  const labels = paths.map(key => JSON.stringify(key)).join(', ');
  return `this service gets the path of the label ${labels} with its query: only the built-in service leaves it out`;
}

function isBuiltIn({ spec }: Resource<'RateLimitService'>, builtIn: HostPort): boolean {
  return spec.service.host === builtIn.host && spec.service.port === builtIn.port;
}
