import * as z from 'zod';
import { integer } from '#resources/words/number-types.ts';
import { backendShape, checkBackend } from '../gateway-api/backend-ref.ts';
import { listOf, someOf } from '../gateway-api/bounded.ts';
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
    .array(integer(400, 599, 'a status from 400 to 599'))
    .default([])
    .meta({ form: 'a list of statuses' })
    .describe('Statuses that are tried again'),
  attempts: integer(0, 2_147_483_647, 'an integer')
    .default(1)
    .describe('Most retries of a request'),
  backoff: gatewayDuration.exactOptional().describe('Least time between tries'),
});

const EVERY_REQUEST: readonly [HttpRouteMatch] = [httpRouteMatch.parse({})];

const rule = z
  .object({
    name: sectionName.exactOptional().describe('Its name'),
    matches: listOf(64, httpRouteMatch, 'matches')
      .transform((matches): HttpRouteMatch[] => (matches.length > 0 ? matches : [...EVERY_REQUEST]))
      .prefault([])
      .describe('Requests that it is for: those that one of these matches. Default: all'),
    filters: httpRouteFilters.describe('What is done with its requests and their responses'),
    backendRefs: listOf(16, backend, 'backends')
      .default([])
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
  hostnames: listOf(16, hostname, 'host names')
    .default([])
    .describe('Host names of requests. Default: those of the listener'),
  rules: someOf(16, rule, 'rules')
    .check(checkRules(routeBreaches))
    .prefault([{}])
    .describe('Where requests go. The most specific match counts, then the older route'),
});
export type HttpRouteRule = z.output<typeof rule>;
export type { HttpRouteFilter, HttpRouteMatch };
