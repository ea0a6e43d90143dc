import type { AccessTokenJWTFilter } from '../filter-settings.ts';

/**
 * The scope for which a JWT filter judges an access token: that of `arguments`, and with `inheritScopeArgument` the rule's without `offline_access`, with
 * `stripInheritedScope` each of its values after its last `/`. `rule` is the rule's own or the default, without an `openid` that only rule 2 added.
 * Sorted, each value once. Source: document 1, `accessTokenJWTFilter`; decisions, "Scope inheritance".
 */
export function delegatedScope(
  { inheritScopeArgument, scope, stripInheritedScope }: Omit<AccessTokenJWTFilter, 'filter'>,
  rule: readonly string[],
): readonly string[] {
  const inherited = inheritScopeArgument ? rule.filter(value => value !== 'offline_access') : [];
  const stripped = stripInheritedScope
    ? inherited.map(value => value.slice(value.lastIndexOf('/') + 1))
    : inherited;
  return [...new Set([...scope, ...stripped])].sort();
}
