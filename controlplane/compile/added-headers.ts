import { formatPath } from '#resources/finding.ts';
import type { AddedHeaders } from '#resources/kinds/mapping/mapping-headers.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import type { Problem, Severity } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { closeMappings } from './close-mappings.ts';
import { hasKeys } from './has-keys.ts';
import { keptFilter } from './kept-lists.ts';
import { problemOf } from './problem-of.ts';
import type { HeaderSetter, HeaderSetters } from './set-headers.ts';

type Mapping = Resource<'Mapping'>;

/**
 * Returns the request headers that a Mapping adds, without those that the gateway itself sets.
 * Envoy would put the Mapping's beside these, or in their place.
 */
export function addedHeaders(
  spec: MappingSpec,
  settersOf: HeaderSetters | undefined,
): AddedHeaders {
  if (settersOf === undefined || !addsRequestHeaders(spec)) return spec.add_request_headers;
  const added = Object.entries(spec.add_request_headers);
  return Object.fromEntries(added.filter(([name]) => settersOf(spec, name) === undefined));
}

/** Returns whether a Mapping adds headers to its requests. */
export function addsRequestHeaders({ add_request_headers }: MappingSpec): boolean {
  return hasKeys(add_request_headers);
}

/**
 * Returns the resources without the Mappings that would replace what a Filter sets. These are
 * closed. Without the header they would let through what a client sends under its name, wherever
 * the Filter does not run.
 */
export function closeReplacing(resources: ResourceSet, settersOf: HeaderSetters): ResourceSet {
  const replacing = new Set(
    changing(resources.mappings).filter(({ spec }) => replaces(spec, settersOf)),
  );
  return closeMappings(resources, replacing);
}

function replaces(spec: MappingSpec, settersOf: HeaderSetters): boolean {
  if (!addsRequestHeaders(spec)) return false;
  return Object.entries(spec.add_request_headers).some(
    ([name, { append }]) => !append && settersOf(spec, name)?.kind === 'Filter',
  );
}

/** Returns a Problem for each request header that a Mapping changes and the gateway itself sets. */
export function addedHeaderProblems(
  { mappings }: ResourceSet,
  settersOf: HeaderSetters,
): readonly Problem[] {
  return changing(mappings).flatMap(mapping => [
    ...Object.entries(mapping.spec.add_request_headers).flatMap(([name, { append }]) =>
      problemsOf(
        mapping,
        'error',
        ['add_request_headers', name],
        settersOf(mapping.spec, name),
        setter => addedText(name, append, setter),
      ),
    ),
    ...mapping.spec.remove_request_headers.flatMap(name =>
      problemsOf(
        mapping,
        'warning',
        ['remove_request_headers'],
        settersOf(mapping.spec, name),
        ({ who }) => `${who} may set "${name}", which is removed, too`,
      ),
    ),
  ]);
}

/** Returns the Mappings that change the headers of their requests. */
const changing = keptFilter(
  ({ spec }: Mapping) => spec.remove_request_headers.length > 0 || addsRequestHeaders(spec),
);

function problemsOf(
  mapping: Mapping,
  severity: Severity,
  path: readonly string[],
  setter: HeaderSetter | undefined,
  message: (setter: HeaderSetter) => string,
): readonly Problem[] {
  if (setter === undefined) return [];
  return [problemOf(mapping, severity, formatPath(['spec', ...path]), message(setter))];
}

function addedText(name: string, append: boolean, { kind, who }: HeaderSetter): string {
  if (kind === 'Filter' && !append)
    return `the Mapping answers 500: its "${name}" would replace that of ${who}. Choose another name`;
  return `"${name}" is left out: ${who} may set it, and nothing is added to that. Choose another name`;
}
