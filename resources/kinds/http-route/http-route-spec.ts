import * as z from 'zod';
import { backendShape, checkBackend } from '../gateway-api/backend-ref.ts';
import { gatewayDuration } from '../gateway-api/duration.ts';
import { hostname, sectionName } from '../gateway-api/names.ts';
import { routeShape } from '../gateway-api/parent-ref.ts';
import { checkRules } from '../gateway-api/rules.ts';
import { sessionPersistence } from '../gateway-api/session-persistence.ts';
import { type HttpRouteFilter, httpRouteFilters } from './http-route-filter.ts';
import { type HttpRouteMatch, httpRouteMatch } from './http-route-match.ts';
import { routeBreaches, ruleBreaches } from './http-route-rules.ts';

const backend = z
  .object({
    ...backendShape,
    filters: httpRouteFilters
      .meta({ describedElsewhere: true })
      .describe('Filters of the requests that it gets, as those of the rule'),
  })
  .check(checkBackend);

const timeouts = z
  .object({
    request: gatewayDuration
      .exactOptional()
      .describe('Longest time for the whole request. `0s` means none'),
    backendRequest: gatewayDuration
      .exactOptional()
      .describe('Longest time for each try. `0s` means none'),
  })
  .check(
    checkRules(({ request = 0, backendRequest = 0 }) =>
      request === 0 || backendRequest <= request
        ? []
        : [{ path: ['backendRequest'], message: '`backendRequest` must not exceed `request`' }],
    ),
  );

const retry = z.object({
  codes: z
    .array(z.int().min(400).max(599).meta({ form: 'a status from 400 to 599' }))
    .default([])
    .meta({ form: 'a list of statuses' })
    .describe('Statuses that are tried again'),
  attempts: z
    .int()
    .min(0)
    .max(2_147_483_647)
    .default(1)
    .meta({ form: 'an integer' })
    .describe('Most retries of a request'),
  backoff: gatewayDuration.exactOptional().describe('Least time between tries'),
});

const EVERY_REQUEST: readonly [HttpRouteMatch] = [httpRouteMatch.parse({})];

const rule = z
  .object({
    name: sectionName.exactOptional().describe('Its name'),
    matches: z
      .array(httpRouteMatch)
      .max(64)
      .meta({ form: 'a list of at most 64 matches' })
      .transform((matches): HttpRouteMatch[] => (matches.length > 0 ? matches : [...EVERY_REQUEST]))
      .prefault([])
      .describe('Requests that it is for: those that one of these matches. Default: all'),
    filters: httpRouteFilters.describe('What is done with its requests and their responses'),
    backendRefs: z
      .array(backend)
      .max(16)
      .default([])
      .meta({ form: 'a list of at most 16 backends' })
      .describe('Who gets its requests. Without any they are answered 500'),
    timeouts: timeouts.exactOptional().describe('How long they may take'),
    retry: retry
      .exactOptional()
      .describe(
        'When they are tried again. After a broken connection GET, HEAD and OPTIONS are. With a `timeouts.backendRequest` shorter than `request` every method is, and so is what is late',
      ),
    sessionPersistence: sessionPersistence
      .exactOptional()
      .describe('How requests of a session find the same instance'),
  })
  .check(checkRules(ruleBreaches));

export const httpRouteSchema = z.object({
  ...routeShape,
  hostnames: z
    .array(hostname)
    .max(16)
    .default([])
    .meta({ form: 'a list of at most 16 host names' })
    .describe('Host names of requests. Default: those of the listener'),
  rules: z
    .array(rule)
    .min(1)
    .max(16)
    .check(checkRules(routeBreaches))
    .prefault([{}])
    .meta({ form: 'a list of 1 to 16 rules' })
    .describe('Where requests go. The most specific match counts, then the older route'),
});

export type HttpRouteSpec = z.output<typeof httpRouteSchema>;
export type HttpRouteRule = z.output<typeof rule>;
export type HttpBackendRef = z.output<typeof backend>;
export type HttpRouteTimeouts = z.output<typeof timeouts>;
export type HttpRouteRetry = z.output<typeof retry>;
export type { HttpRouteFilter, HttpRouteMatch };
