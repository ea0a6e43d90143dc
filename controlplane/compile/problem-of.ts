import { lineOfField, type Placed } from '#resources/parse/field-lines.ts';
import type { Problem, Severity } from '#resources/problem.ts';
import type { Rejected } from '#resources/resource.ts';

/** Returns a Problem of this resource that shows only next to the others. */
export function problemOf(
  resource: Pick<Rejected, 'kind' | 'namespace' | 'name'> & Placed,
  severity: Severity,
  field: string,
  message: string,
): Problem {
  const { kind, namespace, name, source } = resource;
  const line = lineOfField(resource, field);
  return { severity, kind, namespace, name, file: source.file, line, field, message };
}
