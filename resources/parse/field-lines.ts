import { type FieldPath, formatPath } from '#resources/finding.ts';
import type { FieldLines, Source } from '#resources/resource.ts';

/**
 * Resources with more fields than this, such as a RateLimit of thousands, name the nearest field
 * above.
 */
const MOST_FIELDS = 2_000;

/** Where the line of a field is looked up. */
export type Placed = { readonly source: Source; readonly fieldLines?: FieldLines };

/** Returns the lines of all fields of a document. `lineOf` gives the line of one. */
export function fieldLines(document: unknown, lineOf: (path: FieldPath) => number): FieldLines {
  const first = lineOf([]);
  const found: string[] = [];
  const walk = (value: unknown, path: FieldPath, lineAbove: number): void => {
    if (typeof value !== 'object' || value === null) return;
    const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
    for (const key of keys) {
      if (found.length >= MOST_FIELDS) return;
      const child = [...path, key];
      const line = lineOf(child);
      if (line !== lineAbove) found.push(`${line - first} ${formatPath(child)}`);
      walk((value as Record<string | number, unknown>)[key], child, line);
    }
  };
  walk(document, [], first);
  return found.join('\n');
}

/** Returns the line of a field, such as `spec.labels.shop[0]`, or of the nearest field above it. */
export function lineOfField({ source, fieldLines: text }: Placed, field: string): number {
  let nearest = '';
  let line = source.line;
  for (const entry of text?.split('\n') ?? []) {
    const [after = '', ...words] = entry.split(' ');
    const path = words.join(' ');
    const isAbove = field === path || field.startsWith(`${path}.`) || field.startsWith(`${path}[`);
    if (!isAbove || path.length < nearest.length) continue;
    nearest = path;
    line = source.line + Number(after);
  }
  return line;
}
