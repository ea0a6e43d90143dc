import type { ResourceSet } from '#resources/resource-set.ts';
import { moduleConfig } from '../module-config.ts';
import { EDGE } from '../node-groups.ts';

/** Of our own documents, and of Ambassador's, whose files run unchanged. */
const OWN = 'gateway';
const AMBASSADORS = 'ambassador';

/** The label domain of the gateway, and where its name comes from, for messages. */
export type DefaultDomain = { readonly domain: string; readonly source: string };

/**
 * The label domain of a gateway whose RateLimitService and Module name none. Labels and limits decide:
 * it is Ambassador's where they name that one and not ours.
 */
export function defaultLabelDomain(resources: ResourceSet): DefaultDomain {
  const named = namedDomains(resources);
  if (!named.has(AMBASSADORS)) return { domain: OWN, source: "the Module's `default_label_domain`" };
  if (!named.has(OWN)) return { domain: AMBASSADORS, source: 'the default of files of getambassador.io' };
  const both = `labels and limits name both "${OWN}" and "${AMBASSADORS}", the default of files of getambassador.io`;
  return { domain: OWN, source: `${both}: set the Module's \`default_label_domain\`` };
}

function namedDomains(resources: ResourceSet): ReadonlySet<string> {
  const { mappings, rateLimits } = resources;
  const served = mappings.filter(({ spec }) => spec.node_group === EDGE);
  return new Set([
    ...Object.keys(moduleConfig(resources).default_labels),
    ...served.flatMap(({ spec }) => Object.keys(spec.labels)),
    ...rateLimits.map(({ spec }) => spec.domain),
  ]);
}
