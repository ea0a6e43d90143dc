import { caution, type Finding, fault } from './finding.ts';
import type { MappingMatch, MappingSpec } from './mapping.ts';
import { parsePathRegex, parsePrefix } from './path-match.ts';

/** The rules between a Mapping's fields. */
export function checkMapping(spec: MappingSpec): readonly Finding[] {
  return [...checkMatch(spec), ...cautions(spec)];
}

function cautions({ prefix, prefix_regex, rewrite }: MappingSpec): readonly Finding[] {
  if (prefix_regex) {
    const ignored = rewrite !== '/' && rewrite !== '';
    return ignored ? [caution(['rewrite'], '`rewrite` is ignored with `prefix_regex`')] : [];
  }
  if (!/\/\/|\/\.\.?\//.test(prefix)) return [];
  return [
    caution(['prefix'], 'it matches nothing: "//", "/./" and "/../" are resolved before paths are compared'),
  ];
}

/** The rules between the fields that select a Mapping's requests. */
export function checkMatch(match: MappingMatch): readonly Finding[] {
  const prefix = match.prefix_regex ? parsePathRegex(match.prefix) : parsePrefix(match.prefix);
  const findings = 'error' in prefix ? [fault(['prefix'], prefix.error)] : [];
  if (!match.prefix_regex || !match.prefix_exact) return findings;
  return [...findings, fault(['prefix_exact'], '`prefix_exact` and `prefix_regex` exclude each other')];
}
