import * as z from 'zod';
import { backendShape, checkBackend } from '../gateway-api/backend-ref.ts';
import { listOf, textUpTo } from '../gateway-api/bounded.ts';
import { headerList, headerModifier } from '../gateway-api/header-modifier.ts';
import { hostname, sectionName, tokenName } from '../gateway-api/names.ts';
import { localRef } from '../gateway-api/object-ref.ts';
import { routeShape } from '../gateway-api/parent-ref.ts';
import { regexBreaches, regexPartBreaches, TEXT_MATCHES } from '../gateway-api/regex-value.ts';
import { requestMirror } from '../gateway-api/request-mirror.ts';
import { type Breach, checkRules, choiceBreaches } from '../gateway-api/rules.ts';
import { sessionPersistence } from '../gateway-api/session-persistence.ts';
import { repeatBreaches } from '../http-route/http-route-filter.ts';
import { routeBreaches } from '../http-route/http-route-rules.ts';

const FIELDS = {
  RequestHeaderModifier: 'requestHeaderModifier',
  ResponseHeaderModifier: 'responseHeaderModifier',
  RequestMirror: 'requestMirror',
  ExtensionRef: 'extensionRef',
} as const;

const filter = z
  .object({
    type: z
      .enum(['RequestHeaderModifier', 'ResponseHeaderModifier', 'RequestMirror', 'ExtensionRef'])
      .describe('What it does'),
    requestHeaderModifier: headerModifier.exactOptional().describe('Changes request headers'),
    responseHeaderModifier: headerModifier.exactOptional().describe('Changes response headers'),
    requestMirror: requestMirror.exactOptional().describe('Sends a copy of the call'),
    extensionRef: localRef
      .exactOptional()
      .describe('A Filter of this namespace, which decides whether it may pass'),
  })
  .check(checkRules(value => choiceBreaches(value, FIELDS)));

const filters = z
  .array(filter)
  .max(16)
  .check(
    checkRules(list =>
      repeatBreaches(
        list.map(({ type }) => type),
        ['RequestHeaderModifier', 'ResponseHeaderModifier'],
      ),
    ),
  )
  .default([])
  .meta({ form: 'a list of at most 16 filters' });

const name = textUpTo(1024);

const method = z
  .object({
    type: z.enum(TEXT_MATCHES).default('Exact').describe('How service and method are compared'),
    service: name.exactOptional().describe('Service with its package. Default: any'),
    method: name.exactOptional().describe('Method of the service. Default: any'),
  })
  .check(checkRules(methodBreaches));

type Method = { readonly type: string; readonly service?: string; readonly method?: string };

function methodBreaches(value: Method): readonly Breach[] {
  const { type, service, method } = value;
  if (service === undefined && method === undefined)
    return [{ path: [], message: '`service` or `method` is required' }];
  if (type === 'RegularExpression') return regexPartBreaches(value, ['service', 'method']);
  const wrong = (field: string) => [{ path: [field], message: `it is no name of a ${field}` }];
  return [
    ...(service === undefined || SERVICE.test(service) ? [] : wrong('service')),
    ...(method === undefined || METHOD.test(method) ? [] : wrong('method')),
  ];
}

const SERVICE = /^\.?[a-z_][a-z_0-9]*(\.[a-z_][a-z_0-9]*)*$/i;
const METHOD = /^[A-Za-z_][A-Za-z_0-9]*$/;

const header = z
  .object({
    type: z.enum(TEXT_MATCHES).default('Exact').describe('How the value is compared'),
    name: tokenName.describe('Name of the header, in any letter case'),
    value: textUpTo(4096).min(1).describe('The value, or an RE2 expression for all of it'),
  })
  .check(checkRules(regexBreaches));

/** Conditions that a call meets, all of them. */
export const grpcRouteMatch = z.object({
  method: method.exactOptional().describe('Service and method of the call. Default: any'),
  headers: headerList(header).describe('Headers of the call'),
});

const backend = z
  .object({
    ...backendShape,
    filters: filters
      .meta({ describedElsewhere: true })
      .describe('Filters of the calls that it gets, as those of the rule'),
  })
  .check(checkBackend);

const rule = z.object({
  name: sectionName.exactOptional().describe('Its name'),
  matches: listOf(64, grpcRouteMatch, 'matches')
    .default([])
    .describe('Calls that it is for: those that one of these matches. Default: all'),
  filters: filters.describe('What is done with its calls and their responses'),
  backendRefs: listOf(16, backend, 'backends')
    .default([])
    .describe('Who gets its calls. Without any they are answered `UNAVAILABLE`'),
  sessionPersistence: sessionPersistence
    .exactOptional()
    .describe('How calls of a session find the same instance'),
});

export const grpcRouteSchema = z.object({
  ...routeShape,
  hostnames: listOf(16, hostname, 'host names')
    .default([])
    .describe('Host names of calls. Default: those of the listener'),
  rules: listOf(16, rule, 'rules')
    .check(checkRules(routeBreaches))
    .default([])
    .describe('Where calls go. The most specific match counts, then the older route'),
});
export type GrpcRouteRule = z.output<typeof rule>;
export type GrpcRouteMatch = z.output<typeof grpcRouteMatch>;
