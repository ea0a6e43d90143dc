/** What a rule of a closed route has that is for what it may have been for. */
export type Assumed = { readonly namesFilter: boolean };

/**
 * Returns whether it is not known what a rule of a closed route is for. It closes all that this may
 * be, but only where Filters protect the rule: those that it names, or a FilterPolicy.
 */
export function isAssumed(rule: object): rule is Assumed {
  return 'namesFilter' in rule;
}
