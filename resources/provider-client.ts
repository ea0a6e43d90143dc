import * as z from 'zod';
import { duration } from './duration.ts';
import { caution, checkNegative, type Finding } from './finding.ts';
import { isHttps, isOpenToReaders } from './http-url.ts';

/** How a Filter talks to its provider (document 1, "HTTP client settings"). */
export const providerClientShape = {
  insecureTLS: z
    .boolean()
    .default(false)
    .describe("Do not verify the provider's certificate: for tests only"),
  renegotiateTLS: z
    .enum(['never', 'onceAsClient', 'freelyAsClient'])
    .default('never')
    .describe('Whether the provider may ask for TLS renegotiation'),
  maxStale: duration
    .prefault('0')
    .describe(
      'How stale what is cached of the provider may be; more than 0: its `no-store` and `no-cache` are ignored',
    ),
};

type ProviderClient = {
  readonly insecureTLS?: boolean;
  readonly renegotiateTLS?: string;
  readonly maxStale?: number;
};

/** What is weak or without effect in the way to the provider. `url` stands in `field`. */
export function checkProviderClient(
  { insecureTLS, maxStale, renegotiateTLS }: ProviderClient,
  field: string,
  url: string | undefined,
): readonly Finding[] {
  if (url === undefined) return [];
  const open = isOpenToReaders(url);
  const insecure = insecureTLS === true && isHttps(url);
  const tls = [
    ...(insecureTLS === true ? ['insecureTLS'] : []),
    ...(renegotiateTLS === undefined || renegotiateTLS === 'never' ? [] : ['renegotiateTLS']),
  ];
  return [
    ...checkNegative(['maxStale'], maxStale),
    ...(open
      ? [caution([field], 'http without TLS: whoever is on the way can read and change what is sent')]
      : []),
    ...(insecure
      ? [
          caution(
            ['insecureTLS'],
            'the certificate is not verified: whoever is on the way can pretend to be the provider',
          ),
        ]
      : []),
    ...(isHttps(url)
      ? []
      : tls.map(name => caution([name], `\`${name}\` has no effect: \`${field}\` is not https`))),
  ];
}
