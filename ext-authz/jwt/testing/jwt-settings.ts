import type { HeaderTemplate, JwtSettings } from '#ext-authz/policy/filter-settings.ts';
import { parseTemplate, type TemplateUse } from '#resources/template/template.ts';

/** Returns the settings of a JWT filter with these keys, and the defaults for everything else. */
export function jwtSettings(jwksURI: string, changes: Partial<JwtSettings> = {}): JwtSettings {
  return {
    jwksURI,
    insecureTLS: false,
    trustedCa: undefined,
    renegotiateTLS: 'never',
    maxStale: 0,
    validAlgorithms: ['RS256', 'ES256'],
    audience: undefined,
    requireAudience: false,
    issuer: undefined,
    requireIssuer: false,
    requireExpiresAt: false,
    leewayForExpiresAt: 0,
    requireNotBefore: false,
    leewayForNotBefore: 0,
    requireIssuedAt: false,
    leewayForIssuedAt: 0,
    injectRequestHeaders: [],
    errorResponse: errorResponse(),
    ...changes,
  };
}

/** Returns an errorResponse with the defaults for everything else. */
export function errorResponse({
  realm = 'api.default',
  headers = [['content-type', 'application/json']],
  body = '{{ . | json "" }}',
}: {
  readonly realm?: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
} = {}): JwtSettings['errorResponse'] {
  return { realm, headers: headerTemplates(headers), bodyTemplate: templateOf(body, 'body') };
}

export function headerTemplates(
  headers: readonly (readonly [name: string, value: string])[],
): readonly HeaderTemplate[] {
  return headers.map(([name, value]) => ({ name, value: templateOf(value, 'header') }));
}

function templateOf(text: string, use: TemplateUse) {
  const template = parseTemplate(text, use);
  if ('error' in template) throw new Error(template.error);
  return template.value;
}
