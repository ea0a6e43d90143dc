import { CLIENT_SECRET_KEY, cutLineBreak } from '#resources/kinds/filter/client-secret.ts';
import type { OAuth2Spec } from '#resources/kinds/filter/filter-oauth2.ts';
import { signingFault } from '#resources/kinds/filter/signing-method.ts';
import { secretValue } from '#resources/kinds/secret/secret.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import type { SecretValue } from '#resources/words/secret-value.ts';

/** A client secret as it is used. `cut` means that a line break at its end was removed. */
export type ClientSecret = { readonly secret: SecretValue; readonly cut: boolean };

/**
 * Returns the client secret of an OAuth2 filter, from the Filter itself or from the Secret that it
 * names. The error says what is missing, or why it cannot sign, and nothing of the secret.
 * @returns undefined when the filter needs none
 */
export function clientSecret(
  { namespace }: Resource<'Filter'>,
  oauth2: OAuth2Spec,
  secrets: ResourceSet['secrets'],
): Parsed<ClientSecret | undefined> {
  if (oauth2.grantType === 'ClientCredentials') return { value: undefined };
  const { secret, secretName, secretNamespace = namespace, clientAuthentication } = oauth2;
  const found = secret ?? namedSecret(secrets, secretNamespace, secretName ?? '');
  if (typeof found === 'string') return { error: found };
  if (found.place !== undefined) return { value: { secret: found, cut: false } };
  const used = cutLineBreak(found);
  if (used.secret.reveal().length === 0) return { error: `the secret is empty` };
  if (clientAuthentication.method !== 'JWTAssertion') return { value: used };
  const fault = signingFault(used.secret, clientAuthentication.jwtAssertion.signingMethod);
  return fault === undefined ? { value: used } : { error: fault };
}

function namedSecret(
  secrets: ResourceSet['secrets'],
  namespace: string,
  name: string,
): SecretValue | string {
  const resource = secrets.find(secret => secret.namespace === namespace && secret.name === name);
  if (resource === undefined) return `there is no Secret ${namespace}/${name} in force`;
  const value = secretValue(resource.spec, CLIENT_SECRET_KEY);
  return value ?? `the Secret ${namespace}/${name} has no key \`${CLIENT_SECRET_KEY}\``;
}
