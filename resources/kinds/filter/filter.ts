import * as z from 'zod';
import type { Finding } from '#resources/finding.ts';
import type { KindDefinition } from '#resources/schema/kind.ts';
import { gatewayId } from '#resources/words/gateway-id.ts';
import { checkJwt, type JwtSpec, jwt } from './filter-jwt.ts';
import { type OAuth2Spec, oauth2 } from './filter-oauth2.ts';
import { checkOAuth2 } from './filter-oauth2-check.ts';

/** Ambassador's filter types that a user may bring. */
const NOT_SERVED: readonly string[] = ['APIKey', 'External', 'Plugin'];

/** What to write in place of fields of Ambassador's Filters that are not served. */
const AMBASSADOR_FIELDS: ReadonlyMap<string, string> = new Map([
  [
    'audience',
    'Remove it. `extraAuthorizationParameters` asks for one, `accessTokenJWTFilter` checks one',
  ],
  ['contentType', 'Write the header `Content-Type` in `headers`'],
]);

const schema = z
  .object({
    OAuth2: oauth2.exactOptional().describe('Login by an OpenID provider, and its access tokens'),
    JWT: jwt.exactOptional().describe('Bearer tokens that are JWT'),
    gateway_id: gatewayId,
  })
  .check(({ value: { OAuth2, JWT }, value, issues }) => {
    if ((OAuth2 === undefined) !== (JWT === undefined)) return;
    const both = '`OAuth2` and `JWT` exclude each other. Write two Filters';
    const message = OAuth2 === undefined ? 'a Filter needs `OAuth2` or `JWT`' : both;
    issues.push({
      code: 'custom',
      message,
      path: OAuth2 === undefined ? [] : ['JWT'],
      input: value,
    });
  });

function refuseType(field: string): string | undefined {
  return NOT_SERVED.includes(field)
    ? `filters of type \`${field}\` are not served. There are \`OAuth2\` and \`JWT\``
    : undefined;
}

type Written = { readonly OAuth2?: Partial<OAuth2Spec>; readonly JWT?: Partial<JwtSpec> };

function checkFilter({ OAuth2, JWT }: Written): readonly Finding[] {
  return [
    ...(OAuth2 === undefined ? [] : below('OAuth2', checkOAuth2(OAuth2))),
    ...(JWT === undefined ? [] : below('JWT', checkJwt(JWT))),
  ];
}

function below(field: string, findings: readonly Finding[]): readonly Finding[] {
  return findings.map(finding => ({ ...finding, path: [field, ...finding.path] }));
}

/**
 * Describes what is done with a request before it goes upstream. Exactly one of `OAuth2` and `JWT`
 * is set.
 */
export const filter: KindDefinition<typeof schema> = {
  summary: 'A check of requests, which FilterPolicies apply: exactly one of `OAuth2` and `JWT`.',
  schema,
  fieldsAt: 'spec',
  unknownField: 'error',
  refuseField: refuseType,
  foreignFields: AMBASSADOR_FIELDS,
  check: checkFilter,
};

export type FilterSpec = z.output<typeof schema>;
