import type { Limit } from '#resources/kinds/rate-limit/rate-limit-spec.ts';
import type { LabelAlternative } from '#resources/labels/label-pattern.ts';
import { addressNetwork, type PrefixLengths } from '#resources/words/address-network.ts';
import type { LabelKeys } from './label-keys.ts';

/** Keys of labels in which clients can write more than what a limit is about. */
export type EscapableKeys = Pick<LabelKeys, 'forwarded' | 'targets'>;

/**
 * Returns why clients escape a limit: its pattern names a label that holds the path with its query,
 * as `{ header: ":path" }` does, or all of `X-Forwarded-For`.
 * @returns undefined when it names none
 */
export function escapeReason(
  { pattern }: Limit,
  { forwarded, targets }: EscapableKeys,
): string | undefined {
  const items = pattern.flat();
  const target = items.find(({ key }) => targets.includes(key));
  if (target !== undefined) return targetReason(target);
  const list = items.find(({ key }) => forwarded.includes(key));
  return list === undefined ? undefined : forwardedReason(list);
}

function targetReason({ key, value }: LabelAlternative): string {
  const label = `the label "${key}" holds \`:path\` with its query`;
  const instead = `label the path without it: { ${key}: { path: true } }`;
  const escaped =
    value === undefined
      ? 'another query is another counter'
      : 'the same path with "?x" behind it is not matched';
  return `clients can escape this limit: ${label}, so that ${escaped}. To limit a path, ${instead}`;
}

/** The edge appends an address to what a client sends, and a proxy in front mostly does so too. */
function forwardedReason({ key, value }: LabelAlternative): string {
  const label = `the label "${key}" holds \`X-Forwarded-For\`, which begins as the client sends it unless a proxy in front replaces it`;
  const escaped =
    value === undefined
      ? 'another beginning is another counter'
      : 'the same address behind another one is not matched';
  return `clients can escape this limit: ${label}, so that ${escaped}. To limit an address, label \`remote_address\`, and count the proxies in front in the Module's \`xff_num_trusted_hops\``;
}

/**
 * Returns which network a pattern's address stands for.
 * @returns undefined when each stands for itself
 */
export function networkReason({ pattern }: Limit, prefixes: PrefixLengths): string | undefined {
  for (const { key, value } of pattern.flat()) {
    if (key !== 'remote_address' || value === undefined || value.includes('/')) continue;
    const network = addressNetwork(value, prefixes);
    if (network.includes('/'))
      return `"${value}" stands for all of ${network}: by the Module's \`remote_address_prefix\` addresses count by their network`;
  }
  return undefined;
}
