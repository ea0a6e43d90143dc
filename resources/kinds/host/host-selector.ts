import type { Unserved } from '#resources/schema/restrictions.ts';
import { valueAt } from '#resources/schema/value-at.ts';
import { type LabelSelector, labelSelector } from '../gateway-api/label-selector.ts';

/** By what a Host chooses Mappings. Absent: it does not. */
export type Choosing = { readonly mappingSelector?: LabelSelector };

/** Selects every Mapping, since it has no condition. */
export const EVERYTHING: LabelSelector = { matchLabels: {}, matchExpressions: [] };

/** Returns the selector of a Host, if it has a condition. */
export function selectorOf({ mappingSelector: selector }: Choosing): Choosing {
  if (selector === undefined) return {};
  const { matchExpressions, matchLabels } = selector;
  const isEmpty = matchExpressions.length === 0 && Object.keys(matchLabels).length === 0;
  return isEmpty ? {} : { mappingSelector: selector };
}

type Closed = { readonly unserved?: readonly Unserved[]; readonly document?: unknown };

/**
 * Returns what a closed Host chooses, which must not be served on others. `read` is what its fields
 * say without a misspelt one. That one is read as it was probably meant. It may choose everything
 * where it cannot be read.
 */
export function closedSelector(read: Choosing, { document, unserved = [] }: Closed): Choosing {
  const [first, second] = unserved.filter(({ meant = '' }) => SELECTING.includes(meant));
  if (first === undefined) return read;
  const { meant = '', path } = first;
  const value = valueAt(document, path);
  const written = CONDITIONS.includes(meant) ? { ...read.mappingSelector, [meant]: value } : value;
  const selector = second === undefined ? labelSelector.safeParse(written).data : undefined;
  return { mappingSelector: selector ?? EVERYTHING };
}

const CONDITIONS: readonly string[] = ['matchLabels', 'matchExpressions'];

const SELECTING = ['spec', 'mappingSelector', 'mapping_selector', 'selector', ...CONDITIONS];
