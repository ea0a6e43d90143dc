import type { OAuth2Spec } from '#resources/kinds/filter/filter-oauth2.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { SecretValue } from '#resources/words/secret-value.ts';
import { problemOf } from '../problem-of.ts';
import { type ClientSecret, clientSecret } from './client-secret.ts';
import { filterKey } from './filter-key.ts';
import { providerAuthorities } from './provider-authorities.ts';

/** A Filter that can be in force. */
export type ServedFilter = {
  readonly filter: Resource<'Filter'>;
  /** Undefined: the Filter needs none. */
  readonly secret: ClientSecret | undefined;
  /** In PEM. @see providerAuthorities */
  readonly authorities: SecretValue | undefined;
};

export type ServedFilters = {
  /** By `<namespace>/<name>`, in the order of their ids. */
  readonly byName: ReadonlyMap<string, ServedFilter>;
  /** Why others are not in force, and warnings about those that are. */
  readonly problems: readonly Problem[];
};

/**
 * Returns the Filters that can be in force. Their secret is there, and so is the JWT filter that
 * they pass access tokens to.
 */
export function servedFilters({ filters, secrets }: ResourceSet): ServedFilters {
  const all = new Map(filters.map(filter => [filterKey(filter.namespace, filter.name), filter]));
  const byName = new Map<string, ServedFilter>();
  const problems: Problem[] = [];
  for (const [name, filter] of all) {
    const { OAuth2 } = filter.spec;
    const found = providerAuthorities(filter, secrets);
    if ('error' in found) {
      problems.push(authoritiesFault(filter, found.error));
      continue;
    }
    const authorities = found.value;
    if (OAuth2 === undefined) {
      byName.set(name, { filter, secret: undefined, authorities });
      continue;
    }
    const refusal = delegateFault(filter, OAuth2, all);
    if (refusal !== undefined) problems.push(refusal);
    const secret = clientSecret(filter, OAuth2, secrets);
    if ('error' in secret) problems.push(secretFault(filter, OAuth2, secret.error));
    else if (refusal === undefined) byName.set(name, { filter, secret: secret.value, authorities });
    if ('value' in secret && secret.value?.cut === true) problems.push(cutWarning(filter, OAuth2));
  }
  return { byName, problems };
}

function secretField({ secret }: OAuth2Spec): string {
  return secret === undefined ? 'spec.OAuth2.secretName' : 'spec.OAuth2.secret';
}

const CLOSED = 'the Filter is not in force, and what refers to it answers 500';

function authoritiesFault(filter: Resource<'Filter'>, reason: string): Problem {
  const type = filter.spec.OAuth2 === undefined ? 'JWT' : 'OAuth2';
  return problemOf(filter, 'error', `spec.${type}.caSecret`, `${reason}: ${CLOSED}`);
}

function secretFault(filter: Resource<'Filter'>, oauth2: OAuth2Spec, reason: string): Problem {
  return problemOf(filter, 'error', secretField(oauth2), `${reason}: ${CLOSED}`);
}

function cutWarning(filter: Resource<'Filter'>, oauth2: OAuth2Spec): Problem {
  const message = 'the line break at the end of the secret is removed';
  return problemOf(filter, 'warning', secretField(oauth2), message);
}

/**
 * See docs/reference/kinds/filter.md: accessTokenJWTFilter names a Filter that is not a JWT filter.
 */
function delegateFault(
  filter: Resource<'Filter'>,
  { accessTokenJWTFilter }: OAuth2Spec,
  all: ReadonlyMap<string, Resource<'Filter'>>,
): Problem | undefined {
  if (accessTokenJWTFilter === undefined) return undefined;
  const name = filterKey(
    accessTokenJWTFilter.namespace ?? filter.namespace,
    accessTokenJWTFilter.name,
  );
  const delegate = all.get(name);
  if (delegate?.spec.JWT !== undefined) return undefined;
  const reason =
    delegate === undefined
      ? `there is no Filter ${name} in force`
      : `the Filter ${name} is not a JWT filter`;
  const message = `${reason}: this Filter is not in force, and what refers to it answers 500`;
  return problemOf(filter, 'error', 'spec.OAuth2.accessTokenJWTFilter.name', message);
}
