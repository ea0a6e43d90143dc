import { collect } from '#resources/parse/collect.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import type { Problem } from '#resources/problem.ts';
import { type ResourceSet, toResourceSet } from '#resources/resource-set.ts';

/**
 * Returns what the control plane makes of one file that it sees for the first time, with the
 * parser's Problems.
 */
export function resourceSetOf(
  text: string,
  file = 'in.yaml',
): { readonly resources: ResourceSet; readonly problems: readonly Problem[] } {
  const { resources, rejected, problems } = collect([parseFile(file, text, DEFAULT_PARSE_OPTIONS)]);
  return { resources: toResourceSet(resources.values(), rejected.values()), problems };
}
