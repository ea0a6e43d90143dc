import * as z from 'zod';
import { duration, positiveDuration } from '#resources/words/duration.ts';
import { falseByDefault } from '#resources/words/flags.ts';
import { SIGNING_METHODS } from './signing-method.ts';

/** Claims that the gateway itself writes into an assertion (RFC 7523 section 3). */
const OWN_CLAIMS: readonly string[] = ['iss', 'sub', 'aud', 'exp', 'jti', 'nbf', 'iat'];
/** RFC 7515 section 4.1.11, RFC 7797 */
const OWN_HEADER_PARAMETERS: readonly string[] = ['alg', 'crit', 'b64'];

function jsonMap(own: readonly string[], what: string) {
  return z
    .record(z.string(), z.json().meta({ form: 'a JSON value' }))
    .meta({ form: 'a map from name to any JSON value' })
    .check(({ value, issues }) => {
      for (const name of Object.keys(value).filter(key => own.includes(key))) {
        const message = `the ${what} \`${name}\` is the gateway's own and may not be set`;
        issues.push({ code: 'custom', message, path: [name], input: value });
      }
    });
}

const assertionShape = z.object({
  setClientID: falseByDefault.describe('Send the client ID as a parameter too'),
  audience: z
    .string()
    .min(1)
    .exactOptional()
    .describe('Audience that the provider wants. Default: its token endpoint'),
  signingMethod: z
    .enum(SIGNING_METHODS)
    .default('RS256')
    .describe(
      'How it is signed, and so what the secret must be: a private key in PEM or as a JWK, for `HS…` any bytes',
    ),
  lifetime: positiveDuration.prefault('1m').describe('How long an assertion is good'),
  setNBF: falseByDefault.describe('Set the claim `nbf`'),
  nbfSafetyMargin: duration
    .prefault('0')
    .describe('How far `nbf` is in the past, for clocks that differ'),
  setIAT: falseByDefault.describe('Set the claim `iat`'),
  otherClaims: jsonMap(OWN_CLAIMS, 'claim').default({}).describe('Further claims'),
  kid: z
    .string()
    .min(1)
    .max(1024)
    .exactOptional()
    .describe(
      'Header parameter `kid`, by which the provider finds the key. Default: that of a JWK',
    ),
  otherHeaderParameters: jsonMap(OWN_HEADER_PARAMETERS, 'header parameter')
    .default({})
    .describe('Further header parameters, beside `typ` and `alg`'),
});

const jwtAssertion = assertionShape.check(({ value, issues }) => {
  if (value.kid === undefined || !Object.hasOwn(value.otherHeaderParameters, 'kid')) return;
  const message = '`kid` and the `kid` of `otherHeaderParameters` exclude each other. Keep one';
  issues.push({ code: 'custom', message, path: ['kid'], input: value });
});

export type JwtAssertion = z.output<typeof jwtAssertion>;

/** The settings of method `JWTAssertion` without `jwtAssertion`. */
export const DEFAULT_ASSERTION: JwtAssertion = jwtAssertion.parse({});

/**
 * What a filter uses to authenticate. An assertion has all its settings, by default those of its
 * fields.
 */
export type ClientAuthentication =
  | { readonly method: 'HeaderPassword' | 'BodyPassword' }
  | { readonly method: 'JWTAssertion'; readonly jwtAssertion: JwtAssertion };

/** How the gateway authenticates to the provider (docs/reference/kinds/filter.md). */
export const clientAuthentication = z
  .object({
    method: z
      .enum(['HeaderPassword', 'BodyPassword', 'JWTAssertion'])
      .default('HeaderPassword')
      .describe(
        'HTTP Basic, the secret in the body (discouraged by RFC 6749), or a JWT signed with it',
      ),
    jwtAssertion: jwtAssertion
      .exactOptional()
      .describe('The JWT, with method `JWTAssertion` alone'),
  })
  .check(({ value, issues }) => {
    if (value.method === 'JWTAssertion' || value.jwtAssertion === undefined) return;
    const message = `\`jwtAssertion\` belongs to method \`JWTAssertion\`, not to \`${value.method}\``;
    issues.push({ code: 'custom', message, path: ['jwtAssertion'], input: value });
  })
  .transform(
    ({ method, jwtAssertion: assertion = DEFAULT_ASSERTION }): ClientAuthentication =>
      method === 'JWTAssertion' ? { method, jwtAssertion: assertion } : { method },
  );
