import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { HostPort } from '#resources/words/host.ts';
import type { Memo } from '../memo.ts';
import { takenHeaderProblems, takenIn } from './injected-headers.ts';
import { labelDomainProblems } from './label-domain-problems.ts';
import { labelKeys, NO_LABEL_KEYS } from './label-keys.ts';
import { labelMeaningProblems } from './label-meaning-problems.ts';
import { groupShapes } from './label-shape.ts';
import type { Labelling, Labellings } from './labelling.ts';
import { limitNameProblems } from './limit-name-problems.ts';
import { limitProblems } from './limit-problems.ts';
import { operatorServiceProblems } from './operator-service-problems.ts';
import { strippedMatchProblems } from './stripped-match-problems.ts';
import type { TakenHeaders } from './taken-headers.ts';

export type RateLimitContext = {
  readonly labellings: Labellings;
  /** The RateLimits that requests may meet. Their labels hold in their whole domain. */
  readonly applied: ResourceSet['rateLimits'];
  readonly taken: ReadonlyMap<string, TakenHeaders>;
  /** Request headers that only the gateway sets. */
  readonly gatewayHeaders: readonly string[];
  /** The address of the built-in service. */
  readonly builtIn: HostPort;
};

/**
 * Returns Problems between labels, limits and the rate limit service of the edge, each of which is
 * valid by itself. `clusterNames` returns those that requests go to.
 */
export function rateLimitProblems(
  resources: ResourceSet,
  { applied, builtIn, labellings, taken, gatewayHeaders }: RateLimitContext,
  clusterNames: () => readonly string[],
  memo: Memo,
): readonly Problem[] {
  const { mappings, rateLimits } = resources;
  const keys = labelKeys({ ...resources, rateLimits: applied });
  const prefixes = resources.config.remote_address_prefix;
  const keysOf = ({ domain }: Labelling) => keys.get(domain) ?? NO_LABEL_KEYS;
  return [
    ...labelDomainProblems(resources, labellings),
    ...rateLimits.flatMap(rateLimit =>
      takenHeaderProblems(rateLimit, takenIn(rateLimit.spec, taken)),
    ),
    ...labellings.domains.flatMap(labelling =>
      limitProblems(
        rateLimits.filter(({ spec }) => spec.domain === labelling.domain),
        {
          escapable: keysOf(labelling),
          prefixes,
          groups: groupShapes(resources, labelling, memo),
          clusterNames,
        },
        memo,
      ),
    ),
    ...labellings.domains.flatMap(labelling =>
      labelMeaningProblems({ ...resources, rateLimits: applied }, labelling),
    ),
    ...limitNameProblems(rateLimits),
    ...operatorServiceProblems(
      resources,
      [...new Set(labellings.domains.flatMap(labelling => keysOf(labelling).paths))],
      builtIn,
    ),
    ...strippedMatchProblems(mappings, {
      names: gatewayHeaders,
      why: header =>
        `a RateLimit's \`injectRequestHeaders\` sets "${header}", so it is removed from what clients send`,
    }),
  ];
}
