import type { Limit } from '#resources/kinds/rate-limit/rate-limit-spec.ts';
import { addressNetwork, type PrefixLengths } from '#resources/words/address-network.ts';

/**
 * Returns why clients escape a limit: its pattern names a label that holds the path with its query,
 * as `{ header: ":path" }` does.
 * @returns undefined when it names none
 */
export function escapeReason({ pattern }: Limit, targets: readonly string[]): string | undefined {
  const item = pattern.flat().find(({ key }) => targets.includes(key));
  if (item === undefined) return undefined;
  const label = `the label "${item.key}" holds \`:path\` with its query`;
  const instead = `label the path without it: { ${item.key}: { path: true } }`;
  const escaped =
    item.value === undefined
      ? 'another query is another counter'
      : 'the same path with "?x" behind it is not matched';
  return `clients can escape this limit: ${label}, so that ${escaped}. To limit a path, ${instead}`;
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
