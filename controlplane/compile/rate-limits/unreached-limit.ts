import type { Limit } from '#resources/kinds/rate-limit/rate-limit-spec.ts';
import type {
  LabelAlternative,
  LabelPattern,
  PatternLabel,
} from '#resources/labels/label-pattern.ts';
import { addressNetwork } from '#resources/words/address-network.ts';
import type { LabelNode } from './label-tree.ts';
import type { LabelWalk, Unreached } from './label-walk.ts';

const LONGEST = 80;
const NAMED_CLUSTERS = 5;

/**
 * Returns why no request can meet the limit, in plain words: the label that its pattern wants, and
 * those that there are. `item` is the index of that label in the pattern.
 * @returns undefined when one can
 */
export function unreachedReason(
  { pattern }: Limit,
  domain: string,
  walk: LabelWalk,
): { readonly item: number; readonly message: string } | undefined {
  const reach = walk.reach(pattern);
  if (reach.reached) return undefined;
  return { item: reach.depth, message: reasonOf(pattern, domain, reach, walk) };
}

function reasonOf(
  pattern: LabelPattern,
  domain: string,
  reach: Unreached,
  walk: LabelWalk,
): string {
  const item = pattern[reach.depth] ?? [];
  const wanted = formatItem(item);
  const hint = formHint(item, reach, walk);
  const group = `label group of domain ${JSON.stringify(domain)}`;
  if (reach.depth === 0)
    return `no ${group} starts with ${wanted}. The groups of this domain start with ${nearest(reach)}${hint}`;
  const before = pattern.slice(0, reach.depth).map(formatItem).join(', ');
  const instead =
    reach.count > 0 ? `Next comes ${nearest(reach)}` : `The group ends there (${reach.where})`;
  return `no ${group} has ${wanted} after ${before}. ${instead}${hint}`;
}

/** Returns the possible values of a label that is present, but never with the wanted value. */
function formHint(item: PatternLabel, { nearest }: Unreached, walk: LabelWalk): string {
  const there = nearest.find(
    ({ label }) => label.form !== undefined && item.some(({ key }) => key === label.key),
  );
  if (there === undefined) return '';
  const form =
    there.label.form === 'address'
      ? addressForms(walk)
      : `the name of a cluster: ${clusterNames(walk.clusters)}`;
  return `. ${there.label.key} is ${form}`;
}

function addressForms({ prefixes }: LabelWalk): string {
  const [ipv4, ipv6] = ['203.0.113.7', '2001:db8::1'].map(address =>
    addressNetwork(address, prefixes),
  );
  return `one address or network, written as ${ipv4} or ${ipv6}`;
}

function clusterNames(clusters: ReadonlySet<string>): string {
  const named = [...clusters].sort().slice(0, NAMED_CLUSTERS).map(plain).join(', ');
  return clusters.size > NAMED_CLUSTERS
    ? `${named} and ${clusters.size - NAMED_CLUSTERS} more`
    : named;
}

function nearest({ nearest, count }: Unreached): string {
  const named = nearest.map(formatNode).join(', ');
  return count > nearest.length ? `${named} and ${count - nearest.length} more` : named;
}

function formatNode({ label, where }: LabelNode): string {
  return `${formatLabel(label)} (${where})`;
}

/** Formats a pattern's item: `generic_key=a or generic_key=b`. */
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
