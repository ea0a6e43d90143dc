import type { Memo } from '#controlplane/compile/memo.ts';
import { EDGE } from '#controlplane/compile/node-groups.ts';
import { groupShapes } from '#controlplane/compile/rate-limits/label-shape.ts';
import { labelTree } from '#controlplane/compile/rate-limits/label-tree.ts';
import { LabelWalk } from '#controlplane/compile/rate-limits/label-walk.ts';
import { labellings } from '#controlplane/compile/rate-limits/labelling.ts';
import { HIDDEN_TEXT } from '#controlplane/diff/field-changes.ts';
import { defaultLimitName } from '#resources/kinds/rate-limit/default-limit-name.ts';
import type { Limit } from '#resources/kinds/rate-limit/rate-limit-spec.ts';
import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { problemId } from './problems.ts';
import { SENSITIVE } from './redacted.ts';

/** A limit as it is written. */
export type LimitRow = {
  /** Its name in logs and metrics. */
  readonly name: string;
  /** Its place in the RateLimit. */
  readonly index: number;
  /** The id of its RateLimit. */
  readonly id: string;
  readonly domain: string;
  /** Its labels: `generic_key=users, method=POST, remote_address=*`. */
  readonly pattern: string;
  readonly rate: number;
  readonly unit: string;
  readonly action: 'Enforce' | 'LogOnly';
  readonly problems: number;
  /** Label groups that it counts: what its counters are known by. At most some. */
  readonly groups: readonly LimitGroup[];
  readonly file: string;
  readonly line: number;
};

/** The labels of a group. Those without a value are as the request says. */
export type LimitGroup = {
  readonly where: string;
  readonly labels: readonly { readonly key: string; readonly value?: string }[];
};

const MOST_SHAPES = 500;
const MOST_GROUPS = 4;

/** Adds the label groups to the rows of a page. */
export function withGroups(
  rows: readonly LimitRow[],
  resources: ResourceSet,
  memo: Memo,
): readonly LimitRow[] {
  const mappings = resources.mappings.filter(({ spec }) => spec.node_group === EDGE);
  const shapes = new Map(
    labellings(resources).domains.map(labelling => [
      labelling.domain,
      groupShapes({ ...resources, mappings }, labelling, memo)
        .slice(0, MOST_SHAPES)
        .map(shape => ({ shape, walk: new LabelWalk(labelTree([shape]), new Set(), WHOLE) })),
    ]),
  );
  const limits = new Map(resources.rateLimits.map(({ id, spec }) => [id, spec.limits]));
  return rows.map(row => {
    const pattern = limits.get(row.id)?.[row.index]?.pattern ?? [];
    const all = shapes.get(row.domain) ?? [];
    const groups = all.filter(({ walk }) => walk.reach(pattern).reached).slice(0, MOST_GROUPS);
    return { ...row, groups: groups.map(({ shape: { labels, where } }) => ({ labels, where })) };
  });
}

const WHOLE = { ipv4: 32, ipv6: 128 };

export function limitRows(
  { rateLimits }: ResourceSet,
  problems: readonly Problem[],
): readonly LimitRow[] {
  const found = Map.groupBy(problems, problemId);
  return rateLimits.flatMap(rateLimit => {
    const { id, source, spec } = rateLimit;
    return spec.limits.map((limit, index) => ({
      name: limit.name ?? defaultLimitName(rateLimit, index),
      ...{ id, index, groups: [] },
      domain: spec.domain,
      pattern: limit.pattern.map(item => item.map(labelText).join(' or ')).join(', '),
      ...{ rate: limit.rate, unit: limit.unit, action: limit.action },
      problems: found.get(id)?.length ?? 0,
      ...source,
    }));
  });
}

function labelText({ key, value }: Limit['pattern'][number][number]): string {
  return `${key}=${value !== undefined && SENSITIVE.test(key) ? HIDDEN_TEXT : (value ?? '*')}`;
}

export function limitText({ action, domain, id, name, pattern, unit }: LimitRow): string {
  return [name, id, domain, pattern, unit, action].join(' ');
}
