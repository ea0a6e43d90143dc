import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { problemId } from './problems.ts';

/** A limit as it is written. */
export type LimitRow = {
  /** Its name in logs and metrics. */
  readonly name: string;
  /** The id of its RateLimit. */
  readonly id: string;
  readonly domain: string;
  /** Its labels: `generic_key=users, method=POST, remote_address=*`. */
  readonly pattern: string;
  readonly rate: number;
  readonly unit: string;
  readonly action: 'Enforce' | 'LogOnly';
  readonly problems: number;
  readonly file: string;
  readonly line: number;
};

export function limitRows(
  { rateLimits }: ResourceSet,
  problems: readonly Problem[],
): readonly LimitRow[] {
  const found = Map.groupBy(problems, problemId);
  return rateLimits.flatMap(({ id, name, namespace, source, spec }) =>
    spec.limits.map((limit, index) => ({
      name: limit.name ?? `${name}.${namespace}-${index}`,
      id,
      domain: spec.domain,
      pattern: limit.pattern
        .map(item => item.map(({ key, value }) => `${key}=${value ?? '*'}`).join(' or '))
        .join(', '),
      ...{ rate: limit.rate, unit: limit.unit, action: limit.action },
      problems: found.get(id)?.length ?? 0,
      ...source,
    })),
  );
}

export function limitText({ action, domain, id, name, pattern, unit }: LimitRow): string {
  return [name, id, domain, pattern, unit, action].join(' ');
}
