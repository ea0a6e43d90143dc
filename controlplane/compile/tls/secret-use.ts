import type { Resource } from '#resources/resource.ts';
import type { TlsSettings } from '#resources/traffic/tls-settings.ts';
import { type SecretReference, splitSecretName } from '#resources/words/secret-reference.ts';

type Context = Resource<'TLSContext'>;

/** A Secret that is used for TLS, and the resource and field that use it. */
export type SecretUse = {
  readonly reference: Required<SecretReference>;
  readonly by: Resource<'Host'> | Context;
  readonly field: string;
};

/**
 * Returns the Secret with the certificate of a TLSContext.
 * @returns undefined when it names none
 */
export function contextCertificate(context: Context): SecretUse | undefined {
  const { secret } = context.spec;
  return secret === undefined ? undefined : secretUse(context, secret, context.spec, 'spec.secret');
}

/** Returns the Secret with the authorities that a TLSContext trusts. */
export function contextAuthorities(context: Context): SecretUse | undefined {
  const { ca_secret } = context.spec;
  return ca_secret === undefined
    ? undefined
    : secretUse(context, ca_secret, context.spec, 'spec.ca_secret');
}

/** Returns a Secret by its name. The settings say whether the name holds a namespace. */
export function secretUse(
  by: SecretUse['by'],
  name: string,
  { secret_namespacing }: TlsSettings,
  field: string,
): SecretUse {
  return {
    reference: { namespace: by.namespace, ...splitSecretName(name, secret_namespacing) },
    by,
    field,
  };
}
