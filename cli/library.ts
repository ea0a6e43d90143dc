import type { Problem } from '#resources/problem.ts';
import { nothingRead } from './nothing-read.ts';
import { problemsBetween } from './problems-between.ts';
import { readResources } from './read-resources.ts';

export type { Problem };

/**
 * Returns the Problems that the control plane would find in the resources of these files and
 * folders, as `gateway validate` does. This is what programs may import of the package.
 * @throws an Error that names a path that is missing or cannot be read
 */
export function findProblems(paths: readonly string[]): readonly Problem[] {
  const read = readResources(paths);
  return [...nothingRead(paths, read), ...read.problems, ...problemsBetween(read, Date.now())];
}
