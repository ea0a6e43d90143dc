import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { caution, type Finding, fault } from '#resources/finding.ts';
import { isHttps, parseHttpUrl } from '#resources/words/http-url.ts';
import { checkedString, type Parsed } from '#resources/words/parsed-string.ts';
import { type SecretReference, secretReference } from '#resources/words/secret-reference.ts';

/** Source: letsencrypt.org/docs/acme-protocol-updates. */
const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/directory';

const FORM = 'the https:// URL of an ACME directory, or `none`';
const LONGEST_EMAIL = 254;

function parseDirectory(text: string): Parsed<string> {
  if (text === 'none') return { value: text };
  const parsed = parseHttpUrl(text);
  if ('error' in parsed || isHttps(text)) return parsed;
  return { error: 'an ACME authority is asked by https:// alone' };
}

/** RFC 8555, section 7.3: one address, without header fields. So there is no `?` and no comma. */
function parseEmail(text: string): Parsed<string> {
  if (text.length <= LONGEST_EMAIL && /^[\w.!#$&'*+/=^`{|}~-]+@[a-z0-9.-]+$/i.test(text))
    return { value: text };
  return { error: `Cannot parse email ${JSON.stringify(text.slice(0, 80))}: want one address` };
}

export const acmeProvider = z.object({
  authority: checkedString(FORM, parseDirectory)
    .default(LETS_ENCRYPT)
    .describe('Directory of the authority (RFC 8555). `none`: no certificate is ordered'),
  email: checkedString('an email address', parseEmail)
    .exactOptional()
    .describe("The account's contact. To write it is to agree to the authority's terms"),
  privateKeySecret: secretReference
    .exactOptional()
    .describe("Where the account's key is kept. Default: `acme-account-` and a hash of both above"),
  registration: z.string().exactOptional().describe("Ambassador's. It has no effect"),
});

export type AcmeProvider = z.output<typeof acmeProvider>;

/** Checks the provider of a Host with this hostname, whose certificate is kept in `tlsSecret`. */
export function checkAcmeProvider(
  provider: AcmeProvider | undefined,
  hostname: string,
  tlsSecret: SecretReference | undefined,
): readonly Finding[] {
  if (provider === undefined || provider.authority === 'none') return [];
  return [
    ...(provider.email === undefined
      ? [
          fault(
            ['acmeProvider', 'email'],
            'an ACME authority needs an `email`. `authority: none` orders no certificate',
          ),
        ]
      : []),
    ...(hostname.includes('*')
      ? [
          fault(
            ['acmeProvider'],
            `no certificate can be ordered for "${hostname}": an authority proves a wildcard by DNS alone, which the gateway does not change. Name the host in full, or a \`tlsSecret\` with \`authority: none\``,
          ),
        ]
      : []),
    ...(tlsSecret !== undefined && isDeepStrictEqual(provider.privateKeySecret, tlsSecret)
      ? [
          fault(
            ['acmeProvider', 'privateKeySecret'],
            'the certificate is kept in this Secret (`tlsSecret`). Name another for the account',
          ),
        ]
      : []),
    ...(provider.registration === undefined
      ? []
      : [
          caution(
            ['acmeProvider', 'registration'],
            '`registration` has no effect: the authority knows the account by its key',
          ),
        ]),
  ];
}
