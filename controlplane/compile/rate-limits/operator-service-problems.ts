import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { problemOf } from '../problem-of.ts';

/**
 * Returns a warning where an operator's own rate limit service gets labels that the built-in one
 * would shorten.
 */
export function operatorServiceProblems(
  { rateLimitServices: [service] }: ResourceSet,
  paths: readonly string[],
): readonly Problem[] {
  if (service === undefined || paths.length === 0) return [];
  const labels = paths.map(key => JSON.stringify(key)).join(', ');
  const message = `this service gets the path of the label ${labels} with its query: only the built-in service leaves it out`;
  return [problemOf(service, 'warning', 'spec.service', message)];
}
