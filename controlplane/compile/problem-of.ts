import type { Problem, Severity } from '#resources/problem.ts';
import type { Refused } from '#resources/resource.ts';

/** A Problem of this resource that shows only next to the others. */
export function problemOf(
  { kind, namespace, name, source }: Pick<Refused, 'kind' | 'namespace' | 'name' | 'source'>,
  severity: Severity,
  field: string,
  message: string,
): Problem {
  return { severity, kind, namespace, name, file: source.file, line: source.line, field, message };
}
