import * as z from 'zod';
import { type FieldPath, type Finding, fault } from '#resources/finding.ts';
import { pathAndQuery } from '#resources/match/path-match.ts';
import { parseHostHeader } from '#resources/words/host.ts';
import { integer } from '#resources/words/number-types.ts';
import { checkedString } from '#resources/words/parsed-string.ts';
import { timerDuration } from '#resources/words/timer-duration.ts';
import { checkRequestHeaders, removedHeaders } from './mapping-headers.ts';

const SHORTEST_MS = 100;
/** An Envoy that starts, and each change that makes a cluster, may wait for so long. */
const LONGEST_TIMEOUT_MS = 10_000;
const LONGEST_INTERVAL_MS = 3_600_000;
const MOST_FAILURES = 100;
const MOST_RANGES = 100;
const RANGES = `it has from 1 to ${MOST_RANGES} ranges`;

function upTo(most: number) {
  return timerDuration
    .refine(
      ms => ms >= SHORTEST_MS && ms <= most,
      `it must be from ${SHORTEST_MS}ms to ${most / 1000}s`,
    )
    .exactOptional();
}

const times = integer(1, MOST_FAILURES);

const status = integer(100, 599, 'a status from 100 to 599');

const statuses = z
  .object({ min: status.describe('The first of them'), max: status.describe('The last of them') })
  .refine(({ min, max }) => min <= max, '`min` is larger than `max`');

const hostAndPort = checkedString('a host, perhaps with a port', parseHostHeader);

const http = z.object({
  path: pathAndQuery.describe('What is asked, by GET'),
  hostname: hostAndPort.exactOptional().describe("The request's host. Default: the service's name"),
  expected_statuses: z
    .array(statuses)
    .refine(ranges => ranges.length > 0 && ranges.length <= MOST_RANGES, RANGES)
    .exactOptional()
    .describe('What a healthy instance answers. Default: any status below 500'),
  add_request_headers: checkRequestHeaders.describe(
    'Headers of the request: name → value, or `{ value, append }`',
  ),
  remove_request_headers: removedHeaders.describe('Headers that the request does not have'),
});

const grpc = z.object({
  upstream_name: z
    .string()
    .max(253)
    .regex(/^[\x21-\x7e]*$/)
    .meta({ form: 'the name of a gRPC service' })
    .describe('The `service` that `grpc.health.v1.Health/Check` asks for'),
  authority: hostAndPort
    .exactOptional()
    .describe("The request's host. Default: the service's name"),
});

const KINDS = ['http', 'grpc', 'tcp'] as const;

const healthCheck = z
  .object({
    http: http.exactOptional().describe('By a request'),
    grpc: grpc
      .exactOptional()
      .describe("By a call of gRPC's health service. It needs HTTP/2 to the service"),
    tcp: z.object({}).exactOptional().describe('By a connection. `tcp: {}` has no fields'),
  })
  .check(({ value, issues }) => {
    const [first, second] = KINDS.filter(kind => value[kind] !== undefined);
    if (first === undefined)
      issues.push({ code: 'custom', message: 'write one of `http`, `grpc`, `tcp`', input: value });
    if (second === undefined) return;
    const message = `\`${first}\` and \`${second}\` exclude each other: keep one`;
    issues.push({ code: 'custom', message, path: [second], input: value });
  });

const check = z.object({
  health_check: healthCheck.describe('How an instance is asked: `http`, `grpc` or `tcp`'),
  interval: upTo(LONGEST_INTERVAL_MS).describe(
    'Time from one check of an instance to the next, by each proxy. Default: `5s`',
  ),
  timeout: upTo(LONGEST_TIMEOUT_MS).describe(
    'A check without an answer has failed after this time. Default: `3s`',
  ),
  unhealthy_threshold: times
    .default(2)
    .describe(
      'Failed checks in a row until an instance gets no requests. An answer 503 that is not expected is enough alone',
    ),
  healthy_threshold: times
    .default(1)
    .describe('Successful checks in a row until it gets requests again'),
});

/** How proxies ask the instances of a service whether they are well. Envoy makes one check. */
export const healthChecks = z
  .array(check)
  .refine(checks => checks.length <= 1, 'Envoy makes one check of an instance: keep one');

export type HealthCheck = z.output<typeof check>;

/** Returns what is wrong when calls of gRPC would be sent by HTTP/1.1. */
export function checkHealth(
  checks: readonly HealthCheck[] | undefined,
  speaksHttp2: boolean,
  path: FieldPath,
  remedy: string,
): readonly Finding[] {
  if (speaksHttp2 || checks?.[0]?.health_check.grpc === undefined) return [];
  return [fault([...path, 0, 'health_check', 'grpc'], `gRPC needs HTTP/2: write ${remedy}`)];
}
