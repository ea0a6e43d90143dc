/**
 * The identity that a certificate of the built-in authority proves. It is a proxy of a node group,
 * or one of the gateway's services, whose names are node groups too.
 */
export type Identity = { readonly trustDomain: string; readonly group: string };

export const DEFAULT_TRUST_DOMAIN = 'gateway.internal';

/**
 * Names of the secrets that each proxy can ask for: its own certificate, and the roots that it
 * checks peers against.
 */
export const IDENTITY_SECRET = 'gateway/identity';
export const ROOTS_SECRET = 'gateway/roots';

const FORM = /^spiffe:\/\/([a-z0-9._-]{1,255})\/group\/([a-z0-9-]{1,63})$/;

/** Returns the URI in a certificate's subject alternative names. See SPIFFE ID, section 2. */
export function spiffeId({ trustDomain, group }: Identity): string {
  return `spiffe://${trustDomain}/group/${group}`;
}

/** @returns undefined when the URI is no identity of this form */
export function parseSpiffeId(uri: string): Identity | undefined {
  const [, trustDomain, group] = FORM.exec(uri) ?? [];
  return trustDomain === undefined || group === undefined ? undefined : { trustDomain, group };
}
