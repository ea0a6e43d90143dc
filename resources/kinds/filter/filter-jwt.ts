import * as z from 'zod';
import { caution, type Finding } from '#resources/finding.ts';
import {
  bodyTemplate,
  filterErrorHeaders,
  filterHeaders,
} from '#resources/template/header-template.ts';
import {
  checkErrorResponse,
  checkHeaders,
  JWT_DATA,
  JWT_ERROR_DATA,
} from '#resources/template/template-vocabulary.ts';
import { duration } from '#resources/words/duration.ts';
import { falseByDefault } from '#resources/words/flags.ts';
import { httpUrl } from '#resources/words/http-url.ts';
import { checkWith, type Parsed } from '#resources/words/parsed-string.ts';
import {
  PUBLIC_KEY_ALGORITHMS,
  SHARED_SECRET_ALGORITHMS,
} from '#resources/words/signature-algorithms.ts';
import { whenRight } from '#resources/words/when-right.ts';
import { checkProviderClient, providerClientShape } from './provider-client.ts';

/**
 * Signature algorithms whose keys a JWK set can hold, by the names of the library that verifies.
 */
const WITH_PUBLIC_KEY = [
  ...PUBLIC_KEY_ALGORITHMS,
  'EdDSA',
  'Ed25519',
  'ML-DSA-44',
  'ML-DSA-65',
  'ML-DSA-87',
] as const;

const errorResponse = z.object({
  realm: z
    .string()
    .min(1)
    .check(checkWith(parseRealm))
    .exactOptional()
    .describe('Realm of the challenge. Default: `<name>.<namespace>` of the Filter'),
  headers: filterErrorHeaders
    .prefault([{ name: 'Content-Type', value: 'application/json' }])
    .describe('Headers of the response. Without `Content-Type` among them it is `text/plain`'),
  bodyTemplate: bodyTemplate.default('{{ . | json "" }}').describe('Go text/template of its body'),
});

/** The realm stands in a header, between quotes. */
function parseRealm(text: string): Parsed<string> {
  if (/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(text)) return { value: text };
  return {
    error: `${JSON.stringify(text.slice(0, 80))} is not a realm: printable ASCII without " and \\`,
  };
}

function leeway(claim: string) {
  return duration
    .prefault('0')
    .describe(`How far clocks may differ when \`${claim}\` is checked. Below 0 is stricter`);
}

function required(claim: string) {
  return falseByDefault.describe(`Reject tokens without \`${claim}\``);
}

const settings = z.object({
  jwksURI: httpUrl
    .exactOptional()
    .describe('The JWK set with the keys. Required unless `validAlgorithms` is `[none]`'),
  validAlgorithms: z
    .array(z.enum([...WITH_PUBLIC_KEY, ...SHARED_SECRET_ALGORITHMS, 'none']))
    .min(1)
    .default([...WITH_PUBLIC_KEY])
    .meta({ form: 'a list of signature algorithms' })
    .describe('Algorithms of signatures that are accepted. `none`: tokens without signature'),
  audience: z.string().min(1).exactOptional().describe('What `aud` must have when it is there'),
  requireAudience: required('aud'),
  issuer: z.string().min(1).exactOptional().describe('What `iss` must be when it is there'),
  requireIssuer: required('iss'),
  requireExpiresAt: required('exp'),
  leewayForExpiresAt: leeway('exp'),
  requireNotBefore: required('nbf'),
  leewayForNotBefore: leeway('nbf'),
  requireIssuedAt: required('iat'),
  leewayForIssuedAt: leeway('iat'),
  injectRequestHeaders: filterHeaders.describe(
    'Headers set on the request before it goes upstream',
  ),
  errorResponse: errorResponse.prefault({}).describe('The answer when the token is rejected'),
  ...providerClientShape,
});

export type JwtSpec = z.output<typeof settings>;

/**
 * Settings of a JWT filter. Durations are in milliseconds. There is a `jwksURI` unless
 * `validAlgorithms` is `none` alone.
 */
export const jwt = settings
  .refine(({ jwksURI, validAlgorithms }) => jwksURI !== undefined || onlyNone(validAlgorithms), {
    path: ['jwksURI'],
    error: '`jwksURI` is required: an http:// or https:// URL',
    when: whenRight('jwksURI', 'validAlgorithms'),
  })
  .meta({ partial: true });

function onlyNone(algorithms: readonly string[]): boolean {
  return algorithms.every(algorithm => algorithm === 'none');
}

/**
 * Finds what is weak or without effect in a JWT filter. Settings that are wrong by themselves are
 * missing.
 */
export function checkJwt(spec: Partial<JwtSpec>): readonly Finding[] {
  return [
    ...checkAlgorithms(spec),
    ...checkHeaders(spec.injectRequestHeaders ?? [], JWT_DATA, ['injectRequestHeaders']),
    ...checkErrorResponse(spec.errorResponse, JWT_ERROR_DATA, ['errorResponse']),
    ...checkProviderClient(spec, 'jwksURI', spec.jwksURI),
  ];
}

function checkAlgorithms({ validAlgorithms = [], jwksURI }: Partial<JwtSpec>): readonly Finding[] {
  const shared = SHARED_SECRET_ALGORITHMS.find(algorithm => validAlgorithms.includes(algorithm));
  const ignored = jwksURI !== undefined && validAlgorithms.length > 0 && onlyNone(validAlgorithms);
  return [
    ...(validAlgorithms.includes('none')
      ? [
          caution(
            ['validAlgorithms'],
            '`none` accepts tokens without signature: anyone can make one',
          ),
        ]
      : []),
    ...(ignored
      ? [caution(['jwksURI'], '`jwksURI` has no effect: `validAlgorithms` is `none` alone')]
      : []),
    ...(shared === undefined
      ? []
      : [
          caution(
            ['validAlgorithms'],
            `${shared} verifies nothing: a JWK set that can be fetched holds no shared secrets`,
          ),
        ]),
  ];
}
