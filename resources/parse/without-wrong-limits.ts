import { type FieldPath, type Finding, formatPath } from '#resources/finding.ts';
import { defaultLimitName } from '#resources/kinds/rate-limit/default-limit-name.ts';
import type { KindDefinition } from '#resources/schema/kind.ts';
import { validate } from '#resources/schema/validate.ts';
import { isFields } from '#resources/words/fields.ts';

/** A RateLimit without its wrong limits, and all that is wrong with it. */
export type RightLimits = {
  readonly spec: unknown;
  readonly findings: readonly Finding[];
  /** Where its limits stand in the written list. */
  readonly limitsAt: readonly number[];
};

type Written = {
  readonly definition: KindDefinition;
  readonly name: string;
  readonly namespace: string;
  /** The spec in the schema's spelling. */
  readonly spec: unknown;
  /** What is wrong with it so far, with paths from the document's root. */
  readonly findings: readonly Finding[];
};

/**
 * Returns the limits of a RateLimit that have no error. Each stands for itself, as if it were a
 * RateLimit of its own, so a wrong one must not lift the others. They keep their default names.
 * @returns undefined when an error is elsewhere, or no limit is right
 */
export function withoutWrongLimits({ spec, findings, ...of }: Written): RightLimits | undefined {
  if (!isFields(spec) || !Array.isArray(spec.limits)) return undefined;
  const wrong = new Set(findings.filter(isError).map(({ path }) => indexOf(path)));
  if (wrong.has(undefined)) return undefined;
  const indices = [...spec.limits.keys()].filter(index => !wrong.has(index));
  if (indices.length === 0) return undefined;
  const limits: readonly unknown[] = spec.limits;
  const right = indices.map(index => nameLimit(limits[index], index, of));
  const again = validate(of.definition, { ...spec, limits: right });
  const more = again.findings.map(finding => ({
    ...finding,
    path: ['spec', ...inWhole(finding.path, indices)],
  }));
  const all = distinct([...findings, ...more]);
  if (again.spec !== undefined) return { spec: again.spec, findings: all, limitsAt: indices };
  // Rules between fields are checked once each field is right. They may find another limit.
  return all.length > findings.length
    ? withoutWrongLimits({ ...of, spec, findings: all })
    : undefined;
}

function isError({ severity }: Finding): boolean {
  return severity === 'error';
}

/** @returns undefined when the path is not in a limit */
function indexOf([root, list, index]: FieldPath): number | undefined {
  const isLimit = root === 'spec' && String(list).toLowerCase() === 'limits';
  return isLimit && typeof index === 'number' ? index : undefined;
}

function nameLimit(
  limit: unknown,
  index: number,
  of: Pick<Written, 'name' | 'namespace'>,
): unknown {
  return isFields(limit) ? { name: defaultLimitName(of, index), ...limit } : limit;
}

/** Returns the path in the spec with all limits. */
function inWhole([list, index, ...rest]: FieldPath, indices: readonly number[]): FieldPath {
  if (list === undefined) return [];
  if (list !== 'limits' || typeof index !== 'number')
    return index === undefined ? [list] : [list, index, ...rest];
  return [list, indices[index] ?? index, ...rest];
}

function distinct(findings: readonly Finding[]): readonly Finding[] {
  const byText = findings.map(finding => {
    const place = formatPath(finding.path).toLowerCase();
    return [`${finding.severity} ${place} ${finding.message}`, finding] as const;
  });
  // The first one is in the operator's spelling.
  return [...new Map(byText.reverse()).values()].reverse();
}
