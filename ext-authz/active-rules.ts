import type { Definitions } from './filter-kit.ts';
import type { RunnableFilter } from './filter-runner.ts';
import { type RuleHeaders, ruleHeaders } from './final-change.ts';
import { indexRules, type PolicyIndex } from './policy.ts';
import type { Rule, RuleItem } from './rule.ts';

/** A rule that answers 500, since this Filter is missing or cannot run. */
export type ClosedRule = { readonly rule: Rule; readonly filter: string };

/** The rules in force, with what their filters need. */
export type ActiveRules = {
  readonly index: PolicyIndex;
  readonly filters: ReadonlyMap<string, RunnableFilter>;
  /** Of every rule that has filters and is not closed. */
  readonly headers: ReadonlyMap<Rule, RuleHeaders>;
  readonly closed: ReadonlyMap<Rule, ClosedRule>;
};

/**
 * Rules that refer to a Filter that cannot run are closed whole: what it would have injected is not known, so it could not be taken from what
 * the client sends. Source: decisions, "All resources", "Security resources fail closed".
 */
export function activateRules(
  rules: readonly Rule[],
  definitions: Definitions,
  runnable: ReadonlyMap<string, RunnableFilter>,
): ActiveRules {
  const filters = new Map([...runnable].filter(([name]) => delegateRuns(name, definitions, runnable)));
  const headers = new Map<Rule, RuleHeaders>();
  const closed = new Map<Rule, ClosedRule>();
  for (const rule of rules) {
    const names = rule.items.flatMap(namedBy);
    const missing = names.find(name => !filters.has(name));
    if (missing !== undefined) closed.set(rule, { rule, filter: missing });
    else if (names.length > 0) headers.set(rule, ruleHeaders(withDelegates(names, definitions, filters)));
  }
  return { index: indexRules(rules), filters, headers, closed };
}

function namedBy({ filter, arguments: { insteadOfRedirect } }: RuleItem): readonly string[] {
  return [filter, ...(insteadOfRedirect?.items ?? []).flatMap(namedBy)];
}

/** The JWT filter to which an OAuth2 filter leaves the validation of access tokens. */
function delegateOf(name: string, definitions: Definitions): string | undefined {
  const definition = definitions.get(name);
  return definition?.type === 'OAuth2' ? definition.settings.accessTokenJWTFilter?.filter : undefined;
}

function delegateRuns(
  name: string,
  definitions: Definitions,
  runnable: ReadonlyMap<string, RunnableFilter>,
): boolean {
  const delegate = delegateOf(name, definitions);
  return delegate === undefined || runnable.get(delegate)?.type === 'JWT';
}

function withDelegates(
  names: readonly string[],
  definitions: Definitions,
  filters: ReadonlyMap<string, RunnableFilter>,
): readonly RunnableFilter[] {
  const all = new Set(names.flatMap(name => [name, delegateOf(name, definitions) ?? name]));
  return [...all].flatMap(name => filters.get(name) ?? []);
}
