import { hasCrl } from '#certificates/crl-problem.ts';
import { parseCertificates } from '#certificates/pem.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import type { SecretReference } from '#resources/words/secret-reference.ts';
import type { SecretValue } from '#resources/words/secret-value.ts';
import { authoritiesIn } from '../tls/proxy-secret.ts';

const MOST = { bytes: 1024 * 1024, count: 1_000 };

/**
 * Returns the authorities that may sign the certificate of a Filter's provider, in PEM. Whether
 * they are valid now shows at the first request to the provider. The value is undefined when the
 * Filter names none.
 */
export function providerAuthorities(
  filter: Resource<'Filter'>,
  secrets: ResourceSet['secrets'],
): Parsed<SecretValue | undefined> {
  const reference = (filter.spec.OAuth2 ?? filter.spec.JWT)?.caSecret;
  if (reference === undefined) return { value: undefined };
  return authoritiesOf({ namespace: filter.namespace, ...reference }, secrets);
}

function authoritiesOf(
  { name, namespace }: Required<SecretReference>,
  secrets: ResourceSet['secrets'],
): Parsed<SecretValue> {
  const place = `the Secret ${namespace}/${name}`;
  const secret = secrets.find(found => found.namespace === namespace && found.name === name);
  if (secret === undefined) return { error: `there is no Secret ${namespace}/${name} in force` };
  const found = authoritiesIn(secret);
  if (found === undefined) return { error: `${place} has neither \`ca.crt\` nor \`tls.crt\`` };
  if (found.place !== undefined) return { value: found };
  const fault = faultOf(Buffer.from(found.reveal()).toString('utf8'));
  return fault === undefined ? { value: found } : { error: `${place} cannot be used: ${fault}` };
}

function faultOf(pem: string): string | undefined {
  const parsed = parseCertificates(pem, MOST);
  if ('error' in parsed) return parsed.error;
  return hasCrl(pem) ? 'revocation lists are not served here' : undefined;
}
