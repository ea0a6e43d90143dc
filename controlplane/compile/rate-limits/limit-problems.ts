import type { Limit } from '#resources/kinds/rate-limit/rate-limit-spec.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { PrefixLengths } from '#resources/words/address-network.ts';
import type { Memo } from '../memo.ts';
import { problemOf } from '../problem-of.ts';
import { type EscapableKeys, escapeReason, networkReason } from './escaped-limit.ts';
import { HiddenLimits } from './hidden-limits.ts';
import type { GroupShape } from './label-shape.ts';
import { labelTree } from './label-tree.ts';
import { LabelWalk } from './label-walk.ts';
import { limitField } from './limit-field.ts';
import { limitNames } from './limit-name.ts';
import { unreachedReason } from './unreached-limit.ts';

type RateLimit = Resource<'RateLimit'>;
type Finding = {
  /** The limit in question. */
  readonly index: number;
  /** The label of its pattern that no request has, by which the limit has no effect. */
  readonly item?: number;
  readonly message: string;
};

/** What is known of the labels of requests. */
export type KnownLabels = {
  readonly groups: readonly GroupShape[];
  /** Returns the names of the clusters that requests go to. */
  clusterNames(): readonly string[];
  readonly escapable: EscapableKeys;
  readonly prefixes: PrefixLengths;
};

/**
 * Returns warnings about limits of one domain that cannot do what they say. No request can meet
 * them, they hide an Enforce limit, or clients escape them.
 */
export function limitProblems(
  rateLimits: readonly RateLimit[],
  { groups, clusterNames, escapable, prefixes }: KnownLabels,
  memo: Memo,
): readonly Problem[] {
  if (rateLimits.length === 0) return [];
  if (groups.length === 0) return rateLimits.map(unlabelled);
  const tree = memo.of(memo, 'label tree', groups, () => labelTree(groups));
  const written = rateLimits.flatMap(({ id, spec }) => [id, spec]);
  const hidden = memo.of(memo, 'enforced limits', written, () => hiddenLimits(rateLimits));
  const names = clusterNames();
  const clusters = memo.of(memo, 'cluster names', names, () => new Set(names));
  const walk = new LabelWalk(tree, clusters, prefixes);
  const keys = JSON.stringify([escapable.targets, escapable.forwarded]);
  const known = [tree, hidden, clusters, keys, prefixes.ipv4, prefixes.ipv6];
  return rateLimits.flatMap(rateLimit =>
    memo
      .of(rateLimit.spec, 'limit findings', known, () =>
        findings(rateLimit, hidden, walk, escapable),
      )
      .map(finding => warning(rateLimit, finding)),
  );
}

function unlabelled(rateLimit: RateLimit): Problem {
  const domain = JSON.stringify(rateLimit.spec.domain);
  const message = `no request has labels of domain ${domain}, so none meets these limits: label them by the Module's \`default_labels\` or by a Mapping's \`labels\``;
  return problemOf(rateLimit, 'warning', 'spec.domain', message);
}

function findings(
  { spec }: RateLimit,
  hidden: HiddenLimits,
  walk: LabelWalk,
  escapable: EscapableKeys,
): readonly Finding[] {
  return spec.limits.flatMap((limit, index) => {
    const unreached = unreachedReason(limit, spec.domain, walk);
    if (unreached !== undefined) return [{ index, ...unreached }];
    const messages = [
      hidingReason(limit, hidden, walk),
      escapeReason(limit, escapable),
      networkReason(limit, walk.prefixes),
    ];
    return messages.flatMap(message => (message === undefined ? [] : [{ index, message }]));
  });
}

/** Nothing hides the limit of a target, since no other pattern matches its label. */
function hiddenLimits(rateLimits: readonly RateLimit[]): HiddenLimits {
  const any = rateLimits.some(({ spec }) => spec.limits.some(({ action }) => action === 'LogOnly'));
  const enforced = rateLimits
    .filter(({ spec }) => any && spec.targetRefs === undefined)
    .flatMap(enforcedBy);
  return new HiddenLimits(enforced);
}

function enforcedBy(rateLimit: RateLimit) {
  const names = limitNames(rateLimit);
  return rateLimit.spec.limits.flatMap(({ action, pattern }, index) => {
    const where = `${JSON.stringify(names[index])} of RateLimit ${rateLimit.namespace}/${rateLimit.name}`;
    return action === 'Enforce' ? [{ pattern, where }] : [];
  });
}

function hidingReason(
  { action, pattern }: Limit,
  hidden: HiddenLimits,
  walk: LabelWalk,
): string | undefined {
  const found = action === 'LogOnly' ? hidden.hiddenBy(pattern, walk) : undefined;
  if (found === undefined) return undefined;
  return `this LogOnly limit hides the Enforce limit ${found.where}: of two patterns that match a request the longer or more exact one wins, so that such requests are only logged`;
}

/** The pattern of a limit for targets begins with a label that the operator did not write. */
function warning(rateLimit: RateLimit, { index, item, message }: Finding): Problem {
  const unwritten = rateLimit.spec.targetRefs === undefined ? 0 : 1;
  const at = item === undefined ? '' : `[${item - unwritten}]`;
  return problemOf(rateLimit, 'warning', `${limitField(rateLimit, index)}.pattern${at}`, message);
}
