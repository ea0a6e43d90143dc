import type { LabelAlternative, PatternLabel } from '#resources/label-pattern.ts';
import type { Limit } from '#resources/rate-limit.ts';
import type { LabelNode } from './label-tree.ts';
import type { LabelWalk, Unreached } from './label-walk.ts';

const LONGEST = 80;

/** Why no request can meet the limit, in plain words: the label that its pattern wants, and those that there are. Undefined: one can. */
export function unreachedReason({ pattern }: Limit, domain: string, walk: LabelWalk): string | undefined {
  const reach = walk.reach(pattern);
  if (reach.reached) return undefined;
  const item = pattern[reach.depth] ?? [];
  const wanted = formatItem(item);
  const hint = addressHint(item, reach);
  const group = `label group of domain ${JSON.stringify(domain)}`;
  if (reach.depth === 0)
    return `no ${group} starts with ${wanted}; the groups of this domain start with ${nearest(reach)}${hint}`;
  const before = pattern.slice(0, reach.depth).map(formatItem).join(', ');
  const instead = reach.count > 0 ? `there comes ${nearest(reach)}` : `there the group ends (${reach.where})`;
  return `no ${group} has ${wanted} after ${before}; ${instead}${hint}`;
}

/** What a label that is there, but never with the wanted value, can be. */
function addressHint(item: PatternLabel, { nearest }: Unreached): string {
  const there = nearest.find(({ label }) => label.address && item.some(({ key }) => key === label.key));
  return there === undefined
    ? ''
    : `; ${there.label.key} is one IP address, written as 203.0.113.7 or 2001:db8::1`;
}

function nearest({ nearest, count }: Unreached): string {
  const named = nearest.map(formatNode).join(', ');
  return count > nearest.length ? `${named} and ${count - nearest.length} more` : named;
}

function formatNode({ label, where }: LabelNode): string {
  return `${formatLabel(label)} (${where})`;
}

/** A pattern's item: `generic_key=a or generic_key=b`. */
function formatItem(item: PatternLabel): string {
  return item.map(formatLabel).join(' or ');
}

function formatLabel({ key, value }: LabelAlternative): string {
  return value === undefined ? plain(key) : `${plain(key)}=${plain(value)}`;
}

function plain(text: string): string {
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return /^[\w.:/@-]+$/.test(text) ? short : JSON.stringify(short);
}
