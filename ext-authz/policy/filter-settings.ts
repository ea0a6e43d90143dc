import type { ProviderSettings } from '#ext-authz/provider/settings.ts';
import type { TlsSettings } from '#ext-authz/provider/tls-connector.ts';
import type { ProtectedOrigin } from '#resources/kinds/filter/filter-oauth2-origins.ts';
import type { HeaderCondition } from '#resources/match/header-condition.ts';
import type { Template } from '#resources/template/template.ts';

/**
 * A Filter as the control plane sends it, with the fields of docs/reference/kinds/filter.md.
 * Defaults are filled in, durations are in ms, templates are parsed and secrets are resolved.
 * `realm` is `<name>.<namespace>`. `version` changes with its content.
 */
export type FilterDefinition = {
  readonly name: string;
  readonly namespace: string;
  readonly realm: string;
  readonly version: string;
} & (
  | { readonly type: 'OAuth2'; readonly settings: OAuth2Settings }
  | { readonly type: 'JWT'; readonly settings: JwtSettings }
);

export type HeaderTemplate = { readonly name: string; readonly value: Template };

/** See docs/reference/kinds/filter.md. */
export type OAuth2Settings = ProviderSettings & {
  readonly grantType: 'AuthorizationCode' | 'Password' | 'ClientCredentials';
  readonly expirationSafetyMargin: number;
  /** At least one for AuthorizationCode, else none. The first holds the login. */
  readonly protectedOrigins: readonly ProtectedOrigin[];
  readonly useSessionCookies: {
    readonly value: boolean;
    readonly ifRequestHeader: HeaderCondition | undefined;
  };
  readonly extraAuthorizationParameters: ReadonlyMap<string, string>;
  readonly clientSessionMaxIdle: number;
  readonly decisionCache: DecisionCache | undefined;
  readonly postLogoutRedirectURI: string | undefined;
  readonly allowMalformedAccessToken: boolean;
  readonly accessTokenValidation: 'auto' | 'jwt' | 'userinfo';
  readonly accessTokenJWTFilter: AccessTokenJWTFilter | undefined;
  readonly injectRequestHeaders: readonly HeaderTemplate[];
};

/** How long proxies may repeat a decision, and what they compare it by. */
export type DecisionCache = { readonly maxAge: number; readonly revision: string };

export type AccessTokenJWTFilter = {
  /** `<namespace>/<name>` of a JWT Filter. */
  readonly filter: string;
  readonly inheritScopeArgument: boolean;
  readonly stripInheritedScope: boolean;
  /** `arguments.scope` */
  readonly scope: readonly string[];
};

/** See docs/reference/kinds/filter.md. */
export type JwtSettings = TlsSettings & {
  /** Undefined when `validAlgorithms` is `none` alone. */
  readonly jwksURI: string | undefined;
  readonly maxStale: number;
  readonly validAlgorithms: readonly string[];
  readonly audience: string | undefined;
  readonly requireAudience: boolean;
  readonly issuer: string | undefined;
  readonly requireIssuer: boolean;
  readonly requireExpiresAt: boolean;
  readonly leewayForExpiresAt: number;
  readonly requireNotBefore: boolean;
  readonly leewayForNotBefore: number;
  readonly requireIssuedAt: boolean;
  readonly leewayForIssuedAt: number;
  readonly injectRequestHeaders: readonly HeaderTemplate[];
  readonly errorResponse: {
    readonly realm: string;
    readonly headers: readonly HeaderTemplate[];
    readonly bodyTemplate: Template;
  };
};

/** Filters by `<namespace>/<name>`. */
export type Definitions = ReadonlyMap<string, FilterDefinition>;
