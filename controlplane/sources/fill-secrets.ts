import { problemOf } from '#controlplane/compile/problem-of.ts';
import { formatPath } from '#resources/finding.ts';
import type { ParsedFile } from '#resources/parse/parsed-file.ts';
import type { Problem } from '#resources/problem.ts';
import type { Rejected, Resource } from '#resources/resource.ts';
import { hashSpec } from '#resources/words/hash.ts';
import { type SecretPlace, SecretValue } from '#resources/words/secret-value.ts';
import type { FoundValue } from './secret-places.ts';

type Secret = Resource<'Secret'>;

/** Looks up a value for the Secret in this file. */
export type FindValue = (place: SecretPlace, file: string) => FoundValue;

/**
 * Returns a function that puts values from elsewhere into the Secrets that name them. A Secret of
 * which one is not found is rejected, and a Problem names the place. A Secret whose values are as
 * before is the same object as before.
 */
export function secretFiller(find: FindValue): (file: ParsedFile) => ParsedFile {
  const known = new WeakMap<Resource, Secret>();
  return file => {
    if (!file.resources.some(hasPlaces)) return file;
    const filled = file.resources.map(resource =>
      hasPlaces(resource) ? fill(resource, find, known) : { resource },
    );
    return {
      ...file,
      resources: filled.flatMap(each => ('resource' in each ? [each.resource] : [])),
      rejected: [
        ...file.rejected,
        ...filled.flatMap(each => ('rejected' in each ? [each.rejected] : [])),
      ],
      problems: [
        ...file.problems,
        ...filled.flatMap(each => ('problems' in each ? each.problems : [])),
      ],
    };
  };
}

function hasPlaces(resource: Resource): resource is Secret {
  return resource.kind === 'Secret' && placesIn(resource).length > 0;
}

function placesIn({ spec }: Secret): readonly (readonly [key: string, place: SecretPlace])[] {
  return Object.entries(spec.stringData).flatMap(([key, { place }]) =>
    place === undefined ? [] : [[key, place] as const],
  );
}

type Filled =
  | { readonly resource: Secret }
  | { readonly rejected: Rejected; readonly problems: readonly Problem[] };

function fill(secret: Secret, find: FindValue, known: WeakMap<Resource, Secret>): Filled {
  const found = placesIn(secret).map(
    ([key, place]) => [key, find(place, secret.source.file)] as const,
  );
  const problems = found.flatMap(([key, value]) =>
    'error' in value
      ? [problemOf(secret, 'error', formatPath(['stringData', key]), value.error)]
      : [],
  );
  if (problems.length > 0) {
    const { id, kind, name, namespace, source } = secret;
    return { rejected: { id, kind, name, namespace, source }, problems };
  }
  const values = found.flatMap(([key, value]) =>
    'bytes' in value ? [[key, new SecretValue(value.bytes)] as const] : [],
  );
  const stringData = { ...secret.spec.stringData, ...Object.fromEntries(values) };
  const spec = { ...secret.spec, stringData };
  const resource = { ...secret, spec, hash: hashSpec(spec), writtenHash: secret.hash };
  const before = known.get(secret);
  if (before?.hash === resource.hash) return { resource: before };
  known.set(secret, resource);
  return { resource };
}
