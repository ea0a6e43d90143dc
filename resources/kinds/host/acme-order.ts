import type { AcmeProvider } from './acme-provider.ts';

/** A Host's order of a certificate, with the email that it needs. */
export type AcmeOrder = AcmeProvider & { readonly email: string };

/**
 * Returns what a Host orders its certificate by.
 * @returns undefined when it orders none
 */
export function acmeOrderOf(spec: { readonly acmeProvider?: AcmeProvider }): AcmeOrder | undefined {
  const { acmeProvider: provider } = spec;
  const { email } = provider ?? {};
  if (provider === undefined || provider.authority === 'none' || email === undefined)
    return undefined;
  return { ...provider, email };
}
