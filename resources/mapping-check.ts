import { caution, type Finding, fault } from './finding.ts';
import type { MappingMatch, MappingSpec } from './mapping.ts';
import { parsePrefix } from './path-match.ts';
import { parseRe2 } from './re2.ts';

/** The rules between a Mapping's fields. */
export function checkMapping(spec: MappingSpec): readonly Finding[] {
  const ignored = spec.prefix_regex && spec.rewrite !== '/' && spec.rewrite !== '';
  const findings = checkMatch(spec);
  return ignored ? [...findings, caution(['rewrite'], '`rewrite` is ignored with `prefix_regex`')] : findings;
}

/** The rules between the fields that select a Mapping's requests. */
export function checkMatch(match: MappingMatch): readonly Finding[] {
  const prefix = match.prefix_regex ? parseRe2(match.prefix) : parsePrefix(match.prefix);
  const findings = 'error' in prefix ? [fault(['prefix'], prefix.error)] : [];
  if (!match.prefix_regex || !match.prefix_exact) return findings;
  return [...findings, fault(['prefix_exact'], '`prefix_exact` and `prefix_regex` exclude each other')];
}
