import * as z from 'zod';
import type { PatternLabel } from '#resources/labels/label-pattern.ts';
import { labelSpecifier } from '#resources/labels/label-specifier.ts';
import {
  bodyTemplate,
  errorHeaders,
  requestHeaders,
  responseHeaders,
} from '#resources/template/header-template.ts';
import { gatewayId } from '#resources/words/gateway-id.ts';
import { policyTargets } from '../gateway-api/policy-target.ts';
import { patternItem } from './label-pattern-item.ts';

/** The pattern of a limit that has none written. */
export const NO_PATTERN: PatternLabel[] = [];

const limit = z.object({
  name: z
    .string()
    .min(1)
    .exactOptional()
    .describe('Name in logs and metrics. Default: `<resource name>.<namespace>-<index in limits>`'),
  action: z
    .enum(['Enforce', 'LogOnly'])
    .meta({ anyCase: true })
    .default('Enforce')
    .describe(
      'Over the limit: answer 429, or let the request pass and note it only. Any letter case',
    ),
  labels: z
    .array(labelSpecifier)
    .default([])
    .meta({ form: 'a list of label specifiers' })
    .describe(
      'With `targetRefs`: what requests to them are counted by, as in `labels` of a Mapping. `[]`: all together',
    ),
  pattern: z
    .array(patternItem)
    .default(() => NO_PATTERN)
    .meta({ form: 'a list of maps from label key to value' })
    .describe(
      'What a label group begins with, one map a label: any of its pairs, which may have one key twice. Value `""` or `"*"`: any. `[]`: every group. Required without `targetRefs`, else by default any value of each of `labels`',
    ),
  rate: z
    .int({ abort: true })
    .min(0)
    .max(4_294_967_295)
    .meta({ form: 'an integer from 0 to 4294967295' })
    .describe('Requests allowed per unit. With 0 none'),
  unit: z
    .enum(['second', 'minute', 'hour', 'day'])
    .meta({ anyCase: true })
    .describe('Of the wall clock in UTC. Any letter case'),
  injectRequestHeaders: requestHeaders.describe('Added to the request, over the limit or not'),
  injectResponseHeaders: responseHeaders.describe("Added to the response, the service's or a 429"),
  errorResponse: z
    .object({
      headers: errorHeaders.describe('Added to the 429'),
      bodyTemplate: bodyTemplate
        .default('')
        .describe('Go text/template of its body. Empty means no body'),
    })
    .exactOptional()
    .describe('What a 429 of this limit holds. Without it there is no body'),
});

export const rateLimitSpec = z.object({
  targetRefs: policyTargets
    .exactOptional()
    .describe('Gateways and routes of this namespace whose requests the limits count'),
  domain: z
    .string()
    .min(1)
    .default('')
    .describe(
      'Label domain that the limits apply to. Required without `targetRefs`, else by default `gateway`',
    ),
  limits: z
    .array(limit)
    .describe(
      'Of those that match a label group, the ones with the longest pattern count. With `targetRefs` all count',
    ),
  gateway_id: gatewayId,
});

export type RateLimitSpec = z.output<typeof rateLimitSpec>;
export type Limit = RateLimitSpec['limits'][number];
