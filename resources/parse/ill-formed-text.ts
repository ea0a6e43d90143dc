import { type FieldPath, type Finding, fault } from '#resources/finding.ts';

/**
 * Returns a finding for each text with half of a surrogate pair, which YAML and JSON can escape. It
 * has no UTF-8, so it could not be sent to a proxy.
 */
export function illFormedTexts(value: unknown, path: FieldPath): readonly Finding[] {
  const findings: Finding[] = [];
  collect(value, path, findings);
  return findings;
}

function collect(value: unknown, path: FieldPath, findings: Finding[]): void {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) findings.push(fault(path, HALF));
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(item, [...path, index], findings);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      if (!key.isWellFormed()) findings.push(fault(path, HALF));
      collect(item, [...path, key.toWellFormed()], findings);
    }
  }
}

const HALF =
  'a text here has half of a surrogate pair (\\ud800 to \\udfff). Write the whole character';
