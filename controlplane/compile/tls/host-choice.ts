import { type Labels, selects } from '#controlplane/gateway-api/label-selector.ts';
import type { LabelSelector } from '#resources/kinds/gateway-api/label-selector.ts';
import type { Choosing } from '#resources/kinds/host/host-selector.ts';
import type { MappingMatch } from '#resources/kinds/mapping/mapping-match.ts';
import type { Resource } from '#resources/resource.ts';
import { mappingDomain } from '../mapping-domain.ts';

/** Which Mappings the names of some Hosts have, as far as labels decide it. */
export type HostChoice = {
  /** Equal for equal choices. */
  readonly key: string;
  has(match: Pick<MappingMatch, 'host' | 'host_regex'>, labels: Labels): boolean;
};

/** The key of the choice of all names whose Host does not choose. */
export const NO_CHOICE = '';

/** The names of proxies whose Hosts choose nothing, or that have none. */
export const EVERY_MAPPING: HostChoice = { key: NO_CHOICE, has: () => true };

/**
 * Returns what the names of the edge have, each choice once. A Mapping for every host that a Host
 * chooses by its `mappingSelector` is for such Hosts alone, also while that one is rejected. So is
 * one that has a label of such a selector with another value, which may be misspelt.
 */
export function hostChoices(hosts: readonly Choosing[]): ReadonlyMap<string, HostChoice> {
  const choosing = hosts.flatMap(({ mappingSelector }) => mappingSelector ?? []);
  if (choosing.length === 0) return new Map([[EVERY_MAPPING.key, EVERY_MAPPING]]);
  const chosen = choosing.map(
    (selector): HostChoice => ({
      key: JSON.stringify(selector),
      has: (_, labels) => selects(selector, labels),
    }),
  );
  const choices = new Map(chosen.map(choice => [choice.key, choice]));
  const selected = [...choices.values()];
  const keys = new Set(choosing.flatMap(keysOf));
  const others: HostChoice = {
    key: NO_CHOICE,
    has: (match, labels) =>
      mappingDomain(match) !== '*' ||
      !(
        Object.keys(labels).some(key => keys.has(key)) ||
        selected.some(({ has }) => has(match, labels))
      ),
  };
  return new Map([[others.key, others], ...choices]);
}

/** Returns whether these names have the Mapping. */
export function hasMapping(
  choice: HostChoice | undefined,
  { metadata, spec }: Resource<'Mapping'>,
): boolean {
  return choice?.has(spec, metadata?.labels ?? {}) === true;
}

/** Returns the labels that a selector is about. */
function keysOf({ matchExpressions, matchLabels }: LabelSelector): readonly string[] {
  return [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)];
}

/** Returns the key of a Host's choice. */
export function choiceOf(host: Choosing | undefined): string {
  return host?.mappingSelector === undefined ? NO_CHOICE : JSON.stringify(host.mappingSelector);
}
