import type { FieldPath } from '#resources/finding.ts';
import { formatSource } from '#resources/resource.ts';
import type { SourceObject } from '../import/source-object.ts';

/** What an operator has: resources as they are written, and variables of the services. */
export type Site = {
  readonly objects: readonly SourceObject[];
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** A change that may concern an operator. CHANGELOG tells all of them to people. */
export type Change = {
  /** A name that no other change has, in lowercase with hyphens. */
  readonly id: string;
  /** The first release with it. */
  readonly version: string;
  readonly what: string;
  readonly remedy: string;
  /** Returns the places that it concerns, such as `a.yaml:3 Host shop/site`. Never a value. */
  find(site: Site): readonly string[];
};

/** Returns the place of a field of an object, in words. */
export function placeOf(object: SourceObject, path: FieldPath = []): string {
  const { file, kind, lineOf, name, namespace = 'default' } = object;
  return `${formatSource({ file, line: lineOf(path) })} ${kind} ${namespace}/${name}`;
}
