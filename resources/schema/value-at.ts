import type { FieldPath } from '#resources/finding.ts';

/**
 * Returns the value at a place.
 * @returns undefined when nothing is there
 */
export function valueAt(value: unknown, path: FieldPath): unknown {
  return path.reduce<unknown>(
    (at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
    value,
  );
}

function isObject(value: unknown): value is Record<string | number, unknown> {
  return typeof value === 'object' && value !== null;
}
