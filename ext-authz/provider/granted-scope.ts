import { isJsonObject, type JsonObject } from './json-answer.ts';

/**
 * Returns the scope values that a token answer grants, without duplicates. `said` are those that it
 * lists (undefined: what was asked for, RFC 6749 section 5.1), `claims` those of the ID token
 * beside it. Providers list some values otherwise than they were asked for, or not at all:
 * - Google spells `email` and `profile` as URLs.
 * - Entra lists the values of one API only. What the other values ask for shows that they were
 *   granted (OpenID Connect Core sections 3.1.2.1 and 5.4). For `openid` it is the ID token, for
 *   the rest it is their claims in it.
 * - LinkedIn puts commas between values. A value with a comma that was asked for is one value.
 */
export function grantedScope(
  said: readonly string[] | undefined,
  asked: readonly string[],
  claims: JsonObject | undefined,
): readonly string[] {
  if (said === undefined) return asked;
  const listed = said.flatMap(value => (asked.includes(value) ? [value] : value.split(',')));
  const others = listed.flatMap(value => GOOGLE.get(value) ?? []);
  return [...new Set([...listed, ...others, ...shownBy(claims)])].filter(value => value !== '');
}

const GOOGLE: ReadonlyMap<string, string> = new Map([
  ['https://www.googleapis.com/auth/userinfo.email', 'email'],
  ['https://www.googleapis.com/auth/userinfo.profile', 'profile'],
]);

/** Those claims of section 5.4 that a provider with any of them has. */
const CLAIMS: ReadonlyMap<string, readonly string[]> = new Map([
  ['profile', ['name', 'preferred_username', 'given_name', 'family_name', 'nickname']],
  ['email', ['email']],
  ['address', ['address']],
  ['phone', ['phone_number']],
]);

function shownBy(claims: JsonObject | undefined): readonly string[] {
  if (claims === undefined) return [];
  const shown = [...CLAIMS].filter(([, names]) => names.some(name => isTold(claims[name])));
  return ['openid', ...shown.map(([value]) => value)];
}

function isTold(claim: unknown): boolean {
  return isJsonObject(claim) || (typeof claim === 'string' && claim !== '');
}
