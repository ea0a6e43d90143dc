import { caution, type Finding, fault } from './finding.ts';
import type { MappingSpec } from './mapping.ts';
import { parsePath } from './path-match.ts';
import { parseRe2 } from './re2.ts';

/** The rules between a Mapping's fields. */
export function checkMapping(spec: MappingSpec): readonly Finding[] {
  const prefix = spec.prefix_regex ? parseRe2(spec.prefix) : parsePath(spec.prefix);
  const findings: Finding[] = 'error' in prefix ? [fault(['prefix'], prefix.error)] : [];
  if (spec.prefix_regex && spec.prefix_exact) {
    findings.push(fault(['prefix_exact'], '`prefix_exact` and `prefix_regex` exclude each other'));
  }
  if (spec.prefix_regex && spec.rewrite !== '/' && spec.rewrite !== '') {
    findings.push(caution(['rewrite'], '`rewrite` is ignored with `prefix_regex`'));
  }
  return findings;
}
