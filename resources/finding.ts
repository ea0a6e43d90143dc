import type { Severity } from './problem.ts';

/** Keys and indices from the fields' root (`spec`) to a value. */
export type FieldPath = readonly (string | number)[];

/** A mistake in a spec, before it is known where in which file the spec stands. */
export type Finding = {
  readonly severity: Severity;
  readonly path: FieldPath;
  readonly message: string;
  /** For an unknown field: its path in the schema's spelling, and the fields known there. */
  readonly unknown?: { readonly place: FieldPath; readonly known: readonly string[] };
};

/** Returns a finding that rejects the resource. */
export function fault(path: FieldPath, message: string): Finding {
  return { severity: 'error', path, message };
}

/** Returns a finding that the operator should know of. The resource is served. */
export function caution(path: FieldPath, message: string): Finding {
  return { severity: 'warning', path, message };
}

/**
 * Warns of a negative duration. A duration may have a sign (docs/reference/kinds/filter.md), but
 * below 0 it has no meaning here.
 */
export function checkNegative(path: FieldPath, milliseconds = 0): readonly Finding[] {
  return milliseconds < 0
    ? [caution(path, `\`${path.at(-1)}\` is less than 0, which counts as 0`)]
    : [];
}

/**
 * Formats a path, such as `virtual_hosts[0].routes[1]`. A key that is no plain word is quoted:
 * `labels["a.b"]`.
 */
export function formatPath(path: FieldPath): string {
  return path.reduce<string>((text, key) => text + formatStep(key, text === ''), '');
}

function formatStep(key: string | number, first: boolean): string {
  if (typeof key === 'number') return `[${key}]`;
  if (!/^[\w-]+$/.test(key)) return `[${JSON.stringify(key)}]`;
  return first ? key : `.${key}`;
}
