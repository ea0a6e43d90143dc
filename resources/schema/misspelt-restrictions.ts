import { type Finding, formatPath } from '#resources/finding.ts';
import { nearest } from '#resources/words/suggest.ts';
import type { KindDefinition } from './kind.ts';
import { RESTRICTIONS, restricts, type Unserved } from './restrictions.ts';
import { valueAt } from './value-at.ts';

/**
 * Returns the unknown fields of a document that probably are misspelt or misplaced ones that
 * restrict access. To ignore them would serve more than the operator meant to.
 */
export function misspeltRestrictions(
  kind: string,
  { restricting, schema }: KindDefinition,
  findings: readonly Finding[],
  document: unknown,
): readonly Unserved[] {
  if (restricting === undefined || findings.every(({ unknown }) => unknown === undefined))
    return [];
  const rows = RESTRICTIONS.flatMap(row => (row.kind === kind && row.field ? [row.field] : []));
  const fields = ['', ...restricting, ...rows].map(field =>
    field === '' ? 'spec' : `spec.${field}`,
  );
  return findings.flatMap(({ path, unknown }) => {
    if (unknown === undefined || !restricts(valueAt(document, path))) return [];
    const name = String(path.at(-1));
    const meant = meantBy(name, unknown, fields, Object.keys(schema.shape));
    return meant === undefined ? [] : [{ name, path, meant }];
  });
}

/** Returns the restricting field that a key probably is. Fields known in its place come first. */
function meantBy(
  key: string,
  { place, known }: NonNullable<Finding['unknown']>,
  fields: readonly string[],
  others: readonly string[],
): string | undefined {
  const above = formatPath(place.filter(step => typeof step === 'string'));
  const here = fields.filter(field => parentOf(field) === above).map(nameOf);
  const near = nearest(key, [...here, ...known]);
  if (near !== undefined) return here.includes(near) ? near : undefined;
  const misplaced = [...fields, ...ROWS].map(nameOf);
  const meant = nearest(key, [...misplaced, ...others]);
  return meant !== undefined && misplaced.includes(meant) ? meant : undefined;
}

/** They restrict wherever an operator writes them. */
const ROWS: readonly string[] = RESTRICTIONS.flatMap(({ field = [] }) => field);

function parentOf(field: string): string {
  return field.slice(0, Math.max(0, field.lastIndexOf('.')));
}

function nameOf(field: string): string {
  return field.slice(field.lastIndexOf('.') + 1);
}
