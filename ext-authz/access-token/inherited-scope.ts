import type { AccessTokenJWTFilter } from '#ext-authz/policy/filter-settings.ts';

/**
 * Scope values that concern the login and not the upstream. An access token's own `scope` need not
 * have them (RFC 9068 section 2.2.3).
 */
export const OF_THE_LOGIN: readonly string[] = ['openid', 'offline_access'];

/**
 * Returns the scope for which a JWT filter judges an access token, sorted and without duplicates.
 * It has the values of `arguments`. With `inheritScopeArgument` it also has the rule's, except
 * `OF_THE_LOGIN`. With `stripInheritedScope` only what follows the last `/` of a rule's value
 * counts.
 */
export function delegatedScope(
  { inheritScopeArgument, scope, stripInheritedScope }: Omit<AccessTokenJWTFilter, 'filter'>,
  rule: readonly string[],
): readonly string[] {
  const inherited = inheritScopeArgument ? rule : [];
  const stripped = stripInheritedScope
    ? inherited.map(value => value.slice(value.lastIndexOf('/') + 1))
    : inherited;
  return [
    ...new Set([...scope, ...stripped.filter(value => !OF_THE_LOGIN.includes(value))]),
  ].sort();
}
