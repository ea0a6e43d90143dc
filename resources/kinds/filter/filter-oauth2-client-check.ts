import { caution, checkNegative, type Finding, fault } from '#resources/finding.ts';
import { hashSpec } from '#resources/words/hash.ts';
import type { SecretValue } from '#resources/words/secret-value.ts';
import { cutLineBreak } from './client-secret.ts';
import type { OAuth2Spec } from './filter-oauth2.ts';
import { DEFAULT_ASSERTION, type JwtAssertion } from './filter-oauth2-client.ts';
import { type SigningMethod, signingFault } from './signing-method.ts';

type Written = Partial<OAuth2Spec>;

/**
 * Checks the rules between a client's ID, secret and authentication. Settings that are wrong by
 * themselves are missing.
 */
export function checkClient(spec: Written): readonly Finding[] {
  return [
    ...checkExclusive(spec),
    ...(spec.grantType === 'ClientCredentials' ? checkNoClient(spec) : []),
    ...checkAssertion(spec),
  ];
}

function checkExclusive({ secret, secretName, secretNamespace }: Written): readonly Finding[] {
  const twice = '`secret` and `secretName` exclude each other. Keep one';
  const idle = '`secretNamespace` has no effect without `secretName`';
  return [
    ...(secret !== undefined && secretName !== undefined ? [fault(['secretName'], twice)] : []),
    ...(secretName === undefined && secretNamespace !== undefined
      ? [caution(['secretNamespace'], idle)]
      : []),
  ];
}

function checkNoClient({ clientID, secret, secretName }: Written): readonly Finding[] {
  return Object.entries({ clientID, secret, secretName }).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [
          caution(
            [name],
            `\`${name}\` has no effect: with grantType \`ClientCredentials\` the request brings its own`,
          ),
        ],
  );
}

const ASSERTION = ['clientAuthentication', 'jwtAssertion'];

function checkAssertion({
  clientAuthentication: authentication,
  secret,
  grantType,
}: Written): readonly Finding[] {
  if (grantType === undefined || authentication === undefined) return [];
  const own = secret === undefined || grantType === 'ClientCredentials' ? undefined : secret;
  if (authentication.method !== 'JWTAssertion') return own === undefined ? [] : checkLineBreak(own);
  const { jwtAssertion } = authentication;
  if (grantType === 'ClientCredentials') return checkForeignAssertion(jwtAssertion);
  const margin = [...ASSERTION, 'nbfSafetyMargin'];
  const idle = !jwtAssertion.setNBF && jwtAssertion.nbfSafetyMargin > 0;
  return [
    ...(idle ? [caution(margin, '`nbfSafetyMargin` has no effect without `setNBF`')] : []),
    ...checkNegative(margin, jwtAssertion.nbfSafetyMargin),
    ...(own === undefined ? [] : checkSigning(own, jwtAssertion.signingMethod)),
  ];
}

function checkSigning(secret: SecretValue, method: SigningMethod): readonly Finding[] {
  const wrong = signingFault(secret, method);
  if (wrong !== undefined) return [fault(['secret'], wrong)];
  return method.startsWith('HS') ? checkLineBreak(secret) : [];
}

/**
 * Warns of settings of an assertion that the gateway does not make. Those with a default are
 * reported when they differ from it.
 */
function checkForeignAssertion({ setClientID: _, ...assertion }: JwtAssertion): readonly Finding[] {
  const defaults: Readonly<Record<string, unknown>> = DEFAULT_ASSERTION;
  return Object.entries(assertion)
    .filter(([name, value]) => hashSpec(value) !== hashSpec(defaults[name]))
    .map(([name]) =>
      caution(
        [...ASSERTION, name],
        `\`${name}\` has no effect: with grantType \`ClientCredentials\` the request brings the assertion`,
      ),
    );
}

function checkLineBreak(written: SecretValue): readonly Finding[] {
  const { secret, cut } = cutLineBreak(written);
  if (secret.reveal().length === 0) return [fault(['secret'], '`secret` must not be empty')];
  return cut ? [caution(['secret'], 'the line break at its end is cut')] : [];
}
