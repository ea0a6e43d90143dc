import * as z from 'zod';
import { commaList } from '#resources/words/comma-list.ts';
import { integer } from '#resources/words/number-types.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import { suggest } from '#resources/words/suggest.ts';
import { timerDuration } from '#resources/words/timer-duration.ts';

/**
 * When Envoy retries. See Envoy's page "Router", `x-envoy-retry-on` and `x-envoy-retry-grpc-on`.
 */
const CONDITIONS: readonly string[] = [
  '5xx',
  'gateway-error',
  'reset',
  'reset-before-request',
  'connect-failure',
  'retriable-4xx',
  'refused-stream',
  'retriable-status-codes',
  'retriable-headers',
  'envoy-ratelimited',
  'cancelled',
  'deadline-exceeded',
  'internal',
  'resource-exhausted',
  'unavailable',
];

function parseCondition(text: string): Parsed<string> {
  if (CONDITIONS.includes(text)) return { value: text };
  const hint = suggest(text, CONDITIONS);
  return {
    error: `"${text}" is no condition for a retry${hint === '' ? `: ${CONDITIONS.join(', ')}` : hint}`,
  };
}

/**
 * The most retries of one request. Each is more load on a service that may be failing because of
 * load.
 */
const MOST = 100;

/** When a request is retried. */
export const retryPolicy = z.object({
  retry_on: commaList('conditions', parseCondition)
    .prefault([])
    .describe("Envoy's conditions, such as `5xx` or `gateway-error`"),
  num_retries: integer(0, MOST).default(1).describe('Most retries. With 0 none'),
  per_try_timeout: timerDuration
    .exactOptional()
    .describe(
      'Time until the answer to each try begins. Default, and at most: `timeout_ms`. If it is less, a late try is repeated under `5xx`, `gateway-error` or `reset`',
    ),
});
