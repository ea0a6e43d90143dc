import type { Resource } from '#resources/resource.ts';
import type { TlsSettings } from '#resources/traffic/tls-settings.ts';
import { type SecretReference, splitSecretName } from '#resources/words/secret-reference.ts';

type Context = Resource<'TLSContext'>;

/** A Secret that is used for TLS, and by which field of which resource. */
export type SecretUse = {
  readonly reference: Required<SecretReference>;
  readonly by: Resource<'Host'> | Context;
  readonly field: string;
};

/** The Secret with the certificate of a TLSContext; undefined: it names none. */
export function contextCertificate(context: Context): SecretUse | undefined {
  const { secret } = context.spec;
  return secret === undefined ? undefined : secretUse(context, secret, context.spec, 'spec.secret');
}

/** The Secret with the authorities that a TLSContext trusts. */
export function contextAuthorities(context: Context): SecretUse | undefined {
  const { ca_secret } = context.spec;
  return ca_secret === undefined
    ? undefined
    : secretUse(context, ca_secret, context.spec, 'spec.ca_secret');
}

/** A Secret by its name in these settings, which say whether that holds a namespace. */
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
