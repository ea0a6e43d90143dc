import { isRecord } from '#kubernetes/kubernetes-object.ts';

/**
 * Whether a value of the API has all that is wanted of it. The API adds defaults, and others add
 * fields and items of their own.
 */
export function holds(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(value) && wanted.every(item => value.some(candidate => holds(candidate, item)))
    );
  if (isRecord(wanted))
    return (
      isRecord(value) && Object.entries(wanted).every(([name, each]) => holds(value[name], each))
    );
  return value === wanted;
}
