import type { FieldPath } from '#resources/finding.ts';
import { LONGEST_MS } from '#resources/words/number-types.ts';
import { fieldsAt } from '../fields-at.ts';
import type { SourceObject } from '../source-object.ts';

export const PREFIX = 'nginx.ingress.kubernetes.io/';

/** The annotations of an Ingress that are for ingress-nginx, by the name behind the prefix. */
export type Annotations = {
  readonly names: readonly string[];
  /** Returns the value without white space around it. An empty one counts as none. */
  readonly get: (name: string) => string | undefined;
  /** Returns whether the value is true. */
  readonly on: (name: string) => boolean;
};

/** Where an annotation of ingress-nginx stands. */
export function annotationPath(name: string): FieldPath {
  return ['metadata', 'annotations', `${PREFIX}${name}`];
}

/** Returns all annotations of an object as texts. */
export function annotationsOf({ fields }: SourceObject): ReadonlyMap<string, string> {
  const written = fieldsAt(fields, 'metadata', 'annotations');
  return new Map(Object.entries(written).map(([name, value]) => [name, String(value ?? '')]));
}

export function readAnnotations(object: SourceObject): Annotations {
  const found = new Map(
    [...annotationsOf(object)]
      .filter(([name, value]) => name.startsWith(PREFIX) && value.trim() !== '')
      .map(([name, value]) => [name.slice(PREFIX.length), value.trim()]),
  );
  const get = (name: string) => found.get(name);
  return { names: [...found.keys()], get, on: name => isTrue(get(name)) };
}

/** As Go's `strconv.ParseBool`, by which ingress-nginx reads them. */
function isTrue(text: string | undefined): boolean {
  return text !== undefined && /^(?:1|t|true)$/i.test(text);
}

/** Returns the parts of a list with commas. */
export function listOf(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '');
}

/**
 * Reads a whole number of seconds, which nginx also takes with a unit, in milliseconds. More than a
 * timer of Envoy has counts as its most, about 24 days.
 * @returns undefined when it is none
 */
export function millisecondsOf(text: string | undefined): number | undefined {
  const [, digits = '', unit = 's'] = /^(\d{1,9})(ms|s|m|h|d)?$/.exec(text ?? '') ?? [];
  const factor = UNITS[unit];
  if (digits === '' || factor === undefined) return undefined;
  return Math.min(Number(digits) * factor, LONGEST_MS);
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
