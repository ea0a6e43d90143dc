import * as z from 'zod';
import { listOf } from '../gateway-api/bounded.ts';
import { corsFilter } from '../gateway-api/cors-filter.ts';
import { externalAuth } from '../gateway-api/external-auth.ts';
import { headerModifier } from '../gateway-api/header-modifier.ts';
import { portNumber, preciseHostname } from '../gateway-api/names.ts';
import { localRef } from '../gateway-api/object-ref.ts';
import { pathModifier } from '../gateway-api/path-modifier.ts';
import { requestMirror } from '../gateway-api/request-mirror.ts';
import { type Breach, checkRules, choiceBreaches } from '../gateway-api/rules.ts';

/** The field of each type of filter. */
const FIELDS = {
  RequestHeaderModifier: 'requestHeaderModifier',
  ResponseHeaderModifier: 'responseHeaderModifier',
  RequestMirror: 'requestMirror',
  RequestRedirect: 'requestRedirect',
  URLRewrite: 'urlRewrite',
  ExtensionRef: 'extensionRef',
  CORS: 'cors',
  ExternalAuth: 'externalAuth',
} as const;

const TYPES = [
  'RequestHeaderModifier',
  'ResponseHeaderModifier',
  'RequestMirror',
  'RequestRedirect',
  'URLRewrite',
  'ExtensionRef',
  'CORS',
  'ExternalAuth',
] as const;

const requestRedirect = z.object({
  scheme: z.enum(['http', 'https']).exactOptional().describe('Default: that of the request'),
  hostname: preciseHostname.exactOptional().describe('Default: that of the request'),
  path: pathModifier.exactOptional().describe('Default: that of the request'),
  port: portNumber
    .exactOptional()
    .describe('Default: that of a given scheme, else that of the listener'),
  statusCode: z
    .literal([301, 302, 303, 307, 308])
    .default(302)
    .meta({ form: '301, 302, 303, 307 or 308' })
    .describe('Status of the answer'),
});

const urlRewrite = z.object({
  hostname: preciseHostname.exactOptional().describe('Host that the backend gets'),
  path: pathModifier.exactOptional().describe('Path that the backend gets'),
});

/** What is done with a request or its response. `type` says which field it has. */
const httpRouteFilter = z
  .object({
    type: z.enum(TYPES).describe('What it does'),
    requestHeaderModifier: headerModifier.exactOptional().describe('Changes request headers'),
    responseHeaderModifier: headerModifier.exactOptional().describe('Changes response headers'),
    requestMirror: requestMirror.exactOptional().describe('Sends a copy of the request'),
    requestRedirect: requestRedirect.exactOptional().describe('Answers with a redirect'),
    urlRewrite: urlRewrite.exactOptional().describe('Changes host and path of the request'),
    cors: corsFilter.exactOptional().describe('Lets pages of other origins read responses'),
    externalAuth: externalAuth.exactOptional().describe('Asks a service whether it may pass'),
    extensionRef: localRef
      .exactOptional()
      .describe('A Filter of this namespace, which decides whether it may pass'),
  })
  .check(checkRules(value => choiceBreaches(value, FIELDS)));

/** The types that may stand once in a list. */
const ONCE: readonly string[] = [
  'CORS',
  'RequestHeaderModifier',
  'ResponseHeaderModifier',
  'RequestRedirect',
  'URLRewrite',
];

/** Filters of a rule, or of a backend. */
export const httpRouteFilters = listOf(16, httpRouteFilter, 'filters')
  .check(checkRules(filterBreaches))
  .default([]);

function filterBreaches(filters: readonly { readonly type: string }[]): readonly Breach[] {
  const types = filters.map(({ type }) => type);
  const redirect = types.indexOf('RequestRedirect');
  const isBoth = redirect >= 0 && types.includes('URLRewrite');
  return [
    ...repeatBreaches(types, ONCE),
    ...(isBoth
      ? [{ path: [redirect], message: 'RequestRedirect and URLRewrite exclude each other' }]
      : []),
  ];
}

/** Returns a breach for each type of `once` that is already in the list. */
export function repeatBreaches(
  types: readonly string[],
  once: readonly string[],
): readonly Breach[] {
  return types.flatMap((type, index) =>
    once.includes(type) && types.indexOf(type) < index
      ? [{ path: [index], message: `a filter ${type} is already in the list` }]
      : [],
  );
}

export type HttpRouteFilter = z.output<typeof httpRouteFilter>;
