import { formatPath } from '#resources/finding.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { suggest } from '#resources/words/suggest.ts';
import { problemOf } from '../problem-of.ts';
import type { Labelling } from './labelling.ts';

/** Warnings about labels and limits of domains that the edge does not ask about: they have no effect. */
export function labelDomainProblems(
  { modules, mappings, rateLimits }: ResourceSet,
  labelling: Labelling,
): readonly Problem[] {
  return [
    ...modules.slice(0, 1).flatMap(module => defaultLabelProblems(module, labelling)),
    ...mappings.flatMap(mapping => mappingProblems(mapping, labelling)),
    ...rateLimits.flatMap(rateLimit => rateLimitProblem(rateLimit, labelling)),
  ];
}

function defaultLabelProblems(module: Resource<'Module'>, labelling: Labelling): readonly Problem[] {
  const { default_labels } = module.spec.config;
  const domains = Object.keys(default_labels).filter(
    domain => (default_labels[domain]?.defaults.length ?? 0) > 0,
  );
  return unsent(domains, labelling).map(domain =>
    warning(module, ['spec', 'config', 'default_labels', domain], domain, 'these labels', labelling),
  );
}

function mappingProblems(mapping: Resource<'Mapping'>, labelling: Labelling): readonly Problem[] {
  return unsent(Object.keys(mapping.spec.labels), labelling).map(domain =>
    warning(mapping, ['spec', 'labels', domain], domain, 'these labels', labelling),
  );
}

function rateLimitProblem(rateLimit: Resource<'RateLimit'>, labelling: Labelling): readonly Problem[] {
  return unsent([rateLimit.spec.domain], labelling).map(domain =>
    warning(rateLimit, ['spec', 'domain'], domain, 'these limits', labelling),
  );
}

function unsent(domains: readonly string[], { domain }: Labelling): readonly string[] {
  return domains.filter(other => other !== domain);
}

function warning(
  resource: Resource,
  path: readonly string[],
  domain: string,
  what: string,
  { domain: sent, source }: Labelling,
): Problem {
  const message = `${what} of domain ${JSON.stringify(domain)} have no effect: the edge asks for limits of domain ${JSON.stringify(sent)} only (${source})${suggest(domain, [sent])}`;
  return problemOf(resource, 'warning', formatPath(path), message);
}

/** Mappings of other node groups have labels for nothing: only the edge asks for limits. */
export function unservedLabelProblems(mappings: readonly Resource<'Mapping'>[]): readonly Problem[] {
  return mappings
    .filter(({ spec }) => Object.keys(spec.labels).length > 0)
    .map(mapping =>
      problemOf(
        mapping,
        'warning',
        'spec.labels',
        `labels have no effect in node group ${mapping.spec.node_group}: only the edge asks for rate limits`,
      ),
    );
}
