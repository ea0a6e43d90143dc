/** Where something is kept: a Secret, or a file of this process's state. */
export type KeptIn = { readonly namespace: string; readonly name: string };

/** How a certificate is ordered: `gateway.config.v1.AcmeCertificate`. */
export type AcmeSettings = {
  readonly hostname: string;
  /** The URL of the authority's directory, by https. */
  readonly directory: string;
  /** The contact of the account. */
  readonly email: string;
  /** Where the certificate and its key are kept. */
  readonly certificate: KeptIn;
  /** Where the key of the account is kept. */
  readonly account: KeptIn;
};

/**
 * Parses the message as JSON.
 * @returns undefined when a part is missing
 */
export function parseAcmeSettings(json: Partial<AcmeSettings>): AcmeSettings | undefined {
  const { account, certificate, directory, email, hostname } = json;
  const texts = [directory, email, hostname, account?.name, account?.namespace];
  const all = [...texts, certificate?.name, certificate?.namespace];
  if (all.some(text => text === undefined || text === '')) return undefined;
  return json as AcmeSettings;
}
