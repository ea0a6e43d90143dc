import { acmeOrderOf } from '#resources/kinds/host/acme-order.ts';
import type { Resource } from '#resources/resource.ts';
import type { TlsSettings } from '#resources/traffic/tls-settings.ts';
import { type SecretReference, splitSecretName } from '#resources/words/secret-reference.ts';

type Context = Resource<'TLSContext'>;
type Host = Resource<'Host'>;

/** A Secret that is used for TLS, and the resource and field that use it. */
export type SecretUse = {
  readonly reference: Required<SecretReference>;
  readonly by: Host | Context;
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

/**
 * Returns the Secret with a Host's certificate.
 * @returns undefined when the certificate comes from elsewhere
 */
export function certificateUse(host: Host, context: Context | undefined): SecretUse | undefined {
  const { tls, tlsSecret } = host.spec;
  if (acmeOrderOf(host.spec) !== undefined) return undefined;
  if (tlsSecret !== undefined)
    return {
      reference: { namespace: host.namespace, ...tlsSecret },
      by: host,
      field: 'spec.tlsSecret',
    };
  return tls !== undefined || context === undefined ? undefined : contextCertificate(context);
}

/** Returns the Secret with the authorities of its clients' certificates. */
export function authoritiesUse(host: Host, context: Context | undefined): SecretUse | undefined {
  const { tls } = host.spec;
  if (tls?.ca_secret !== undefined)
    return secretUse(host, tls.ca_secret, tls, 'spec.tls.ca_secret');
  return tls !== undefined || context === undefined ? undefined : contextAuthorities(context);
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
