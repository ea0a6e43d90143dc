import { formatPath } from '#resources/finding.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { problemOf } from '../problem-of.ts';
import { unaskedReason } from './asked-domains.ts';
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
  return domains.flatMap(domain => {
    const path = ['spec', 'config', 'default_labels', domain];
    return warning(module, path, 'these labels', domain, labellings);
  });
}

function mappingProblems(mapping: Resource<'Mapping'>, labellings: Labellings): readonly Problem[] {
  return Object.keys(mapping.spec.labels).flatMap(domain =>
    warning(mapping, ['spec', 'labels', domain], 'these labels', domain, labellings),
  );
}

function rateLimitProblem(
  rateLimit: Resource<'RateLimit'>,
  labellings: Labellings,
): readonly Problem[] {
  const { domain } = rateLimit.spec;
  return warning(rateLimit, ['spec', 'domain'], 'these limits', domain, labellings);
}

function warning(
  resource: Resource,
  path: readonly string[],
  what: string,
  domain: string,
  { asked }: Labellings,
): readonly Problem[] {
  const message = unaskedReason(what, domain, asked);
  if (message === undefined) return [];
  return [problemOf(resource, 'warning', formatPath(path), message)];
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
