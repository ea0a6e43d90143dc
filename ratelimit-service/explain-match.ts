import {
  type Label,
  type LabelPattern,
  matchesLabel,
  type PatternLabel,
} from '#resources/labels/label-pattern.ts';
import type { Limit } from './limit.ts';

const MOST_SHOWN = 3;
const LONGEST_SHOWN = 80;

/**
 * Returns why a pattern does not match a label group, in plain words. Labels are counted from 1.
 * Shows labels' values.
 * @returns undefined when it matches
 */
export function explainMismatch(
  pattern: LabelPattern,
  group: readonly Label[],
): string | undefined {
  for (const [index, item] of pattern.entries()) {
    const label = group[index];
    if (label === undefined) return groupEnds(group.length, pattern.length);
    if (matchesLabel(item, label) === undefined) return labelDiffers(item, label, index + 1);
  }
  return undefined;
}

/**
 * Returns why a limit does not apply to a label group, in plain words. Its pattern does not match,
 * or one of `winners` (the result of matchGroup) is preferred.
 * @returns undefined when it applies
 */
export function explainLimit(
  limit: Limit,
  group: readonly Label[],
  winners: readonly Limit[],
): string | undefined {
  const mismatch = explainMismatch(limit.pattern, group);
  if (mismatch !== undefined) return mismatch;
  const [winner] = winners;
  if (winner === undefined || winner.canonical === limit.canonical) return undefined;
  return `${advantage(winner, limit, group)} of limit ${winner.name} matches`;
}

function advantage(winner: Limit, limit: Limit, group: readonly Label[]): string {
  if (winner.pattern.length > limit.pattern.length) return 'a longer pattern';
  const closer = winner.pattern.some((item, index) => {
    const label = group[index];
    return (
      label !== undefined &&
      matchesLabel(item, label) !== matchesLabel(limit.pattern[index] ?? [], label)
    );
  });
  return closer ? 'a more exact pattern' : 'an equally good pattern';
}

function groupEnds(labels: number, wanted: number): string {
  const has =
    labels === 0
      ? 'the group has no label'
      : `the group ends after ${labels} label${plural(labels)}`;
  return `${has}, the pattern has ${wanted}`;
}

function labelDiffers(item: PatternLabel, label: Label, place: number): string {
  if (place === 1 && item.every(({ key }) => key !== label.key)) {
    return `group starts with ${cut(label.key)}, pattern with ${enumerate([...new Set(item.map(({ key }) => cut(key)))])}`;
  }
  return `label ${place} is ${show(label)}, the pattern wants ${enumerate(item.map(show))}`;
}

/** Returns the label as the operator writes it, with `*` for any value. */
function show({ key, value = '*' }: PatternLabel[number]): string {
  return JSON.stringify(cut(`${key}=${value}`));
}

function enumerate(words: readonly string[]): string {
  if (words.length <= MOST_SHOWN) return words.join(' or ');
  return `${words.slice(0, MOST_SHOWN).join(', ')} or ${words.length - MOST_SHOWN} others`;
}

function cut(text: string): string {
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)}…`;
}

function plural(count: number): string {
  return count === 1 ? '' : 's';
}
