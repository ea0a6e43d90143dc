import { formatPath } from '#resources/finding.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { suggest } from '#resources/words/suggest.ts';
import { problemOf } from '../problem-of.ts';
import { labelledMappings } from './label-keys.ts';
import type { Labellings } from './labelling.ts';

/**
 * Returns warnings about labels and limits of domains that the edge does not ask about. They have
 * no effect.
 */
export function labelDomainProblems(
  { modules, mappings, rateLimits }: ResourceSet,
  labellings: Labellings,
): readonly Problem[] {
  return [
    ...modules.slice(0, 1).flatMap(module => defaultLabelProblems(module, labellings)),
    ...labelledMappings(mappings).flatMap(mapping => mappingProblems(mapping, labellings)),
    ...rateLimits.flatMap(rateLimit => rateLimitProblem(rateLimit, labellings)),
  ];
}

function defaultLabelProblems(
  module: Resource<'Module'>,
  labellings: Labellings,
): readonly Problem[] {
  const { default_labels } = module.spec.config;
  const domains = Object.keys(default_labels).filter(
    domain => (default_labels[domain]?.defaults.length ?? 0) > 0,
  );
  return unsent(domains, labellings).map(domain =>
    warning(
      module,
      ['spec', 'config', 'default_labels', domain],
      domain,
      'these labels',
      labellings,
    ),
  );
}

function mappingProblems(mapping: Resource<'Mapping'>, labellings: Labellings): readonly Problem[] {
  return unsent(Object.keys(mapping.spec.labels), labellings).map(domain =>
    warning(mapping, ['spec', 'labels', domain], domain, 'these labels', labellings),
  );
}

function rateLimitProblem(
  rateLimit: Resource<'RateLimit'>,
  labellings: Labellings,
): readonly Problem[] {
  return unsent([rateLimit.spec.domain], labellings).map(domain =>
    warning(rateLimit, ['spec', 'domain'], domain, 'these limits', labellings),
  );
}

function unsent(named: readonly string[], { domains }: Labellings): readonly string[] {
  return named.filter(each => domains.every(({ domain }) => domain !== each));
}

function warning(
  resource: Resource,
  path: readonly string[],
  domain: string,
  what: string,
  { domains, source }: Labellings,
): Problem {
  const sent = domains.map(({ domain }) => domain);
  const asked = sent.map(each => JSON.stringify(each)).join(' and ');
  const message = `${what} of domain ${JSON.stringify(domain)} have no effect: the edge asks for limits of domain ${asked} only (${source})${suggest(domain, sent)}`;
  return problemOf(resource, 'warning', formatPath(path), message);
}

/**
 * Returns warnings about labels of Mappings of other node groups. They have no effect, since only
 * the edge asks for limits.
 */
export function unservedLabelProblems(
  mappings: readonly Resource<'Mapping'>[],
): readonly Problem[] {
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
