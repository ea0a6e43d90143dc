import * as z from 'zod';
import { trueByDefault } from '#resources/words/flags.ts';
import { gatewayId } from '#resources/words/gateway-id.ts';
import { integer, LONGEST_MS } from '#resources/words/number-types.ts';
import { service } from '#resources/words/service.ts';
import { statsName } from '#resources/words/stats-name.ts';
import { toldHeader } from '#resources/words/told-header.ts';

/** Each Host with TLS has them in its part of the edge's listener. */
const MOST_HEADERS = 32;
const MOST_SECONDS = Math.floor(LONGEST_MS / 1_000);
/** A proxy keeps this much for each of its threads. */
const MOST_BYTES = 16_777_216;

const loggedHeader = z.object({
  header_name: toldHeader.describe('Name of the header. None that holds credentials'),
  during_request: trueByDefault.describe('Of the request'),
  during_response: trueByDefault.describe('Of the answer'),
  during_trailer: trueByDefault.describe("Of the answer's trailers"),
});

const driverConfig = z.object({
  additional_log_headers: z
    .array(loggedHeader)
    .max(MOST_HEADERS)
    .default([])
    .meta({ droppable: true, lenient: true, form: `a list of at most ${MOST_HEADERS} headers` })
    .describe('Further headers in each entry, but not with `tcp`'),
});

export const logServiceSpec = z.object({
  service: service.describe('The log service, which is asked by gRPC'),
  driver: z
    .enum(['http', 'tcp', 'opentelemetry'])
    .describe(
      "What is sent. `http`: Envoy's HTTP entries, with the path and its query. `tcp`: what is known of the connection. `opentelemetry`: OTLP logs, without queries",
    ),
  driver_config: driverConfig.prefault({}).describe('Settings of the driver'),
  flush_interval_time: integer(1, MOST_SECONDS, `an integer of seconds from 1 to ${MOST_SECONDS}`)
    .default(1)
    .describe('Entries wait so many seconds at most'),
  flush_interval_byte_size: integer(0, MOST_BYTES, `an integer of bytes from 0 to ${MOST_BYTES}`)
    .default(16_384)
    .describe('They are sent earlier when they have so many bytes. 0: each at once'),
  grpc: trueByDefault.describe("Ambassador's. Log services are asked by gRPC and nothing else"),
  protocol_version: z
    .enum(['v3'])
    .exactOptional()
    .describe("Ambassador's. Version 3 is Envoy's only one"),
  stats_name: statsName,
  gateway_id: gatewayId,
});

export type LogServiceSpec = z.output<typeof logServiceSpec>;
