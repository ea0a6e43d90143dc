import * as z from 'zod';
import { caution, checkNegative, type Finding, fault } from '#resources/finding.ts';
import { duration } from '#resources/words/duration.ts';
import { falseByDefault } from '#resources/words/flags.ts';
import { isHttps, isOpenToReaders } from '#resources/words/http-url.ts';
import { type SecretReference, secretReference } from '#resources/words/secret-reference.ts';

/** Settings of the calls from a Filter to its provider (docs/reference/kinds/filter.md). */
export const providerClientShape = {
  caSecret: secretReference
    .exactOptional()
    .describe(
      "Secret with the authorities (`ca.crt`, else `tls.crt`) that sign the provider's certificate. Only these are trusted then",
    ),
  insecureTLS: falseByDefault.describe("Do not verify the provider's certificate: for tests only"),
  renegotiateTLS: z
    .enum(['never', 'onceAsClient', 'freelyAsClient'])
    .default('never')
    .describe('Whether the provider may ask for TLS renegotiation'),
  maxStale: duration
    .prefault('0')
    .describe(
      'How stale cached answers of the provider may be. Above 0 its `no-store` and `no-cache` are ignored',
    ),
};

type ProviderClient = {
  readonly caSecret?: SecretReference;
  readonly insecureTLS?: boolean;
  readonly renegotiateTLS?: string;
  readonly maxStale?: number;
};

/** Finds what is weak or without effect in the way to the provider. `url` stands in `field`. */
export function checkProviderClient(
  { caSecret, insecureTLS, maxStale, renegotiateTLS }: ProviderClient,
  field: string,
  url: string | undefined,
): readonly Finding[] {
  const both =
    caSecret !== undefined && insecureTLS === true
      ? [
          fault(
            ['insecureTLS'],
            '`caSecret` and `insecureTLS` exclude each other: no certificate is verified',
          ),
        ]
      : [];
  if (url === undefined) return both;
  const open = isOpenToReaders(url);
  const insecure = insecureTLS === true && isHttps(url);
  const tls = [
    ...(caSecret === undefined ? [] : ['caSecret']),
    ...(insecureTLS === true ? ['insecureTLS'] : []),
    ...(renegotiateTLS === undefined || renegotiateTLS === 'never' ? [] : ['renegotiateTLS']),
  ];
  return [
    ...both,
    ...checkNegative(['maxStale'], maxStale),
    ...(open
      ? [
          caution(
            [field],
            'http without TLS: an attacker on the way can read and change what is sent',
          ),
        ]
      : []),
    ...(insecure
      ? [
          caution(
            ['insecureTLS'],
            'the certificate is not verified: an attacker on the way can pretend to be the provider',
          ),
        ]
      : []),
    ...(isHttps(url)
      ? []
      : tls.map(name => caution([name], `\`${name}\` has no effect: \`${field}\` is not https`))),
  ];
}
