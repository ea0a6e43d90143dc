import type { Rule, RuleArguments, RuleItem } from '#ext-authz/policy/rule.ts';

export const NO_ARGUMENTS: RuleArguments = {
  scope: undefined,
  insteadOfRedirect: undefined,
  sameSite: undefined,
};

/**
 * A rule's item for the Filter `default/<name>` that applies to all requests, with the default
 * onDeny and onAllow.
 */
export function ruleItem(name: string, change: Partial<RuleItem> = {}): RuleItem {
  return {
    filter: `default/${name}`,
    applies: () => true,
    onDeny: 'break',
    onAllow: 'continue',
    arguments: NO_ARGUMENTS,
    ...change,
  };
}

/** The item of a Filter with this `scope` argument. */
export function itemWith(scope?: readonly string[]): RuleItem {
  return ruleItem('filter', { arguments: { ...NO_ARGUMENTS, scope } });
}

/** A rule for every host and path. */
export function ruleOf(...items: readonly RuleItem[]): Rule {
  return { id: 'default/policy[0]', host: '*', path: '*', items };
}
